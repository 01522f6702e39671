import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { COMMUNITY_LICENSE, EyrieError } from '@eyrie/contract'
import { listen } from '@eyrie/kit'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { startEngine } from '../../test/fixtures/engine/engine.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { type Client, createClient, getEtag } from './engine-client.ts'

const elements = [{ name: 'object-tracking' }]
const camera = { type: 'video', address: 'rtsp://camera.invalid/stream' } as const

async function connect(token?: string, signal?: AbortSignal): Promise<Client> {
  const { engine } = await startEngine(createTemporaryFolder(), { EYRIE_ENGINE_TOKENS: 'secret' })
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    await engine.stop()
  })
  return createClient({ url: `http://127.0.0.1:${server.port}/`, token, signal })
}

/** The EyrieError with which a call rejects. */
async function getError(call: Promise<unknown>): Promise<EyrieError> {
  const error = await call.then(
    () => undefined,
    failure => failure,
  )
  expect(error).toBeInstanceOf(EyrieError)
  return error as EyrieError
}

describe('engine client', () => {
  it('has one typed method for each route', async () => {
    const client = await connect('secret')
    const created = await client.source.create(camera)
    expect(created).toEqual({ ...camera, id: created.id, decoder: 'gst_h264' })
    expect(await client.source.modify(created.id, { rate: 5 })).toMatchObject({ rate: 5 })
    expect(await client.source.list()).toHaveLength(1)

    const pipeline = await client.pipeline.create({ elements, sources: [created.id] })
    expect(await client.disconnectSources(pipeline.id, [created.id])).toMatchObject({ sources: [] })
    expect(await client.pipeline.remove(pipeline.id)).toBeUndefined()

    expectTypeOf(client.source.create).returns.resolves.toHaveProperty('decoder')
    expectTypeOf(client.source.remove).returns.resolves.toBeUndefined()
    expectTypeOf<Parameters<typeof client.source.get>[0]>().toEqualTypeOf<number>()
  })

  it('sends lists and flags in the query', async () => {
    const client = await connect('secret')
    expect(
      Object.keys(await client.getCatalog({ filter: ['elements', 'devices'] })).sort(),
    ).toEqual(['devices', 'elements'])
    const { id } = await client.source.create(camera)
    await client.pipeline.create({ elements, sources: [id] })
    expect(await getError(client.source.remove(id))).toMatchObject({ code: 'reference' })
    await client.source.remove(id, { force: true })
    expect(await client.source.list()).toEqual([])
  })

  it('accepts options after the body', async () => {
    const client = await connect('secret')
    expect(await getError(client.deploy([]))).toMatchObject({ code: 'activation', status: 403 })
    await client.activate(COMMUNITY_LICENSE)
    const { pipelines } = await client.deploy([{ sources: [camera], elements }], {
      override: 'capacity',
    })
    expect(pipelines).toHaveLength(1)
  })

  it('rejects an update with a stale ETag', async () => {
    const client = await connect('secret')
    const created = await client.source.create(camera)
    const updated = await client.source.modify(
      created.id,
      { rate: 5 },
      { ifMatch: getEtag(created) },
    )
    expect(
      await getError(client.source.modify(created.id, { rate: 9 }, { ifMatch: getEtag(created) })),
    ).toMatchObject({
      code: 'precondition',
    })
    await client.source.modify(created.id, { rate: 9 }, { ifMatch: getEtag(updated) })
  })

  it("rejects with the engine's code, reason and value", async () => {
    const client = await connect('secret')
    const pipeline = await client.pipeline.create({ elements })
    const missing = await getError(client.connectSources(pipeline.id, [7]))
    expect(missing).toMatchObject({ code: 'id', status: 400, value: expect.anything() })
    expect(missing.message).toMatch(/7/)
    expect(await getError(client.source.create({ ...camera, rate: -1 }))).toMatchObject({
      code: 'syntax',
      message: expect.stringMatching(/^\/rate: /),
    })
  })

  it('rejects with auth without a token', async () => {
    const client = await connect()
    expect(await getError(client.about())).toMatchObject({ code: 'auth', status: 401 })
  })

  it.each(['xyzzy\nplugh', 'xyzzy\u0000', 'xyzzy\u2713'])(
    'rejects the token %j without repeating it',
    async token => {
      const client = createClient({ url: 'http://127.0.0.1:9', token })
      const error = await getError(client.about())
      expect(error).toMatchObject({
        code: 'auth',
        message: expect.stringMatching(/^the token contains a line break/),
      })
      expect(() => client.output()).toThrow(error.message)
      expect(error.message).not.toContain(token.slice(0, 5))
    },
  )

  it('rejects with the URL and the cause if the engine cannot be reached', async () => {
    const client = createClient({ url: 'http://127.0.0.1:9' })
    expect(await getError(client.about())).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^the engine at http:\/\/127\.0\.0\.1:9 cannot be reached: .*(refused|bad port)/i,
      ),
    })
  })

  it('rejects if the engine does not respond in time', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    expect(await getError(createClient({ url, timeoutMs: 100 }).about())).toMatchObject({
      code: 'unavailable',
      message: `the engine at ${url} cannot be reached: it has not answered in time`,
    })
  })

  it('gives a large upload more time than other calls', async () => {
    const release = Promise.withResolvers<void>()
    const server = createServer(async (request, response) => {
      if (request.method !== 'POST') return
      await release.promise
      response.end('{}')
      request.resume()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = createClient({ url, timeoutMs: 100 })
    const upload = client.plugin.inspect(new Uint8Array(4 << 20))
    upload.catch(() => {})

    expect(await getError(client.about())).toMatchObject({ code: 'unavailable' })
    release.resolve()
    expect(await upload).toEqual({})
  })

  it('rejects if the server is not an engine', async () => {
    const server = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    expect(await getError(createClient({ url: `http://127.0.0.1:${port}` }).about())).toMatchObject(
      {
        code: 'internal',
        message: expect.stringMatching(/answered 200: is it the address of an engine\?/),
      },
    )
  })

  it('aborts calls with its signal', async () => {
    const client = await connect('secret', AbortSignal.abort())
    expect(await getError(client.about())).toMatchObject({ code: 'unavailable' })
  })
})
