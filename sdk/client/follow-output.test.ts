import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { hello as helloSchema, outputQuery } from '@eyrie/contract'
import { createLog, listen } from '@eyrie/kit'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { createOutput, type Output } from '../../services/engine/output/output.ts'
import { startEngine } from '../../test/fixtures/engine/engine.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createClient } from './engine-client.ts'
import type { OutputOptions, ReceivedMessage } from './follow-output.ts'

describe('client output', () => {
  let folder: string
  let output: Output
  let server: WebSocketServer

  const serve = async (
    port: number,
    space: { logBytes: number; segmentBytes?: number } = { logBytes: 64 << 20 },
  ) => {
    output = createOutput({ folder, ...space, log: createLog('test', 'silent') })
    await output.start()
    server = new WebSocketServer({ host: '127.0.0.1', port, path: '/api/v3/output' })
    server.on('connection', (socket, { url }) => {
      const { searchParams } = new URL(url!, 'ws://engine')
      socket.on('close', output.follow(socket, outputQuery.parse(Object.fromEntries(searchParams))))
    })
    await once(server, 'listening')
  }
  const disconnectAll = () => {
    for (const socket of server.clients) socket.terminate()
  }
  const stop = async () => {
    disconnectAll()
    server.close()
    await output.stop()
  }
  const getPort = () => (server.address() as AddressInfo).port

  beforeEach(async () => {
    folder = createTemporaryFolder()
    await serve(0)
    onTestFinished(() => stop())
  })

  let published: number
  beforeEach(() => {
    published = 0
  })
  const publish = (count: number, padding = '') => {
    const place = {
      channel: 1,
      source: 1,
      pipeline: 1,
      pts: 0,
      epoch: 1,
      time: '2026-01-01T00:00:00.000Z',
    }
    for (let n = 0; n < count; n++) {
      output.publish({ kind: 'event', ...place, data: { type: `event ${++published}${padding}` } })
    }
  }

  const follow = (options?: OutputOptions) => {
    const abort = new AbortController()
    onTestFinished(() => abort.abort())
    const client = createClient({ url: `http://127.0.0.1:${getPort()}`, signal: abort.signal })
    return { received: client.output(options), abort }
  }

  it('yields hello, then new messages', async () => {
    const { received } = follow()
    expect((await received.next()).value).toMatchObject({ kind: 'hello', newest: 0 })
    publish(3)
    expect(await readEvents(received, 3)).toEqual(['event 1', 'event 2', 'event 3'])
  })

  it('reconnects and continues after a damaged frame', async () => {
    const connected = once(server, 'connection')
    const { received } = follow()
    expect((await received.next()).value).toMatchObject({ kind: 'hello' })
    publish(1)
    expect(await readEvents(received, 1)).toEqual(['event 1'])

    const [, request] = await connected
    const reservedBits = 0x70
    request.socket.write(Buffer.from([reservedBits, 0]))
    publish(1)
    expect((await received.next()).value).toMatchObject({ kind: 'hello' })
    expect(await readEvents(received, 1)).toEqual(['event 2'])
  })

  it('requests only the selected kinds and channels', async () => {
    publish(1)
    const { received } = follow({ since: 1, kinds: ['state', 'event'], channels: [1, 2] })
    expect(await readEvents(received, 1)).toEqual(['event 1'])
  })

  it('yields every message exactly once across lost connections', async () => {
    const onDisconnect = vi.fn()
    const { received } = follow({ onDisconnect })
    await received.next()
    for (let round = 0; round < 3; round++) {
      publish(200)
      disconnectAll()
      publish(100)
      await vi.waitFor(() => expect(output.status().newest).toBe(published))
      expect(await readEvents(received, 300)).toEqual(numbered(published - 300, 300))
    }
    expect(onDisconnect).toHaveBeenCalled()
    expect(onDisconnect.mock.calls[0]![0].message).toMatch(/the engine at .* cannot be reached/)
  })

  it('reports that the engine answers pings, again after a lost connection', async () => {
    const onPong = vi.fn()
    const { received } = follow({ onPong })
    await received.next()
    await vi.waitFor(() => expect(onPong).toHaveBeenCalled())
    disconnectAll()
    await received.next()
    onPong.mockClear()
    await vi.waitFor(() => expect(onPong).toHaveBeenCalled())
  })

  it('continues after a restart of the engine', async () => {
    const { received } = follow()
    await received.next()
    publish(5)
    await readEvents(received, 5)
    publish(5)
    const port = getPort()
    await stop()
    const next = readEvents(received, 10)
    await serve(port)
    publish(5)
    expect(await next).toEqual(numbered(5, 10))
  })

  it('follows a new log from its start', async () => {
    const { received } = follow()
    publish(20)
    await readEvents(received, 1)
    const port = getPort()
    await stop()
    await rm(folder, { recursive: true })
    await serve(port)
    published = 100
    publish(2)
    const types = []
    while (types.at(-1) !== 'event 102') types.push(...(await readEvents(received, 1)))
    expect(types.slice(-2)).toEqual(['event 101', 'event 102'])
  })

  it('acknowledges messages of a consumer when the next one is requested', async () => {
    const { received } = follow({ consumer: 'books' })
    await received.next()
    publish(5)
    await readEvents(received, 3)
    await vi.waitFor(async () => {
      const again = follow({ consumer: 'books' })
      expect(await readEvents(again.received, 3)).toEqual(numbered(2, 3))
    })
  })

  it('acknowledges only explicitly with onAcknowledgeReady', async () => {
    let acknowledge: ((seq: number) => void) | undefined
    const onAcknowledgeReady = (acknowledgeMessages: (seq: number) => void) => {
      acknowledge = acknowledgeMessages
    }
    const { received } = follow({ consumer: 'books', onAcknowledgeReady })
    await received.next()
    publish(5)
    await readEvents(received, 4)
    acknowledge!(2)
    await vi.waitFor(async () => {
      const again = follow({ consumer: 'books', onAcknowledgeReady })
      expect(await readEvents(again.received, 3)).toEqual(numbered(2, 3))
    })
  })

  it('yields a gap for messages that are no longer in the log', async () => {
    await stop()
    await serve(0, { logBytes: 16 << 10, segmentBytes: 8 << 10 })
    publish(1000)
    await vi.waitFor(() => expect(output.status().newest).toBe(1000))
    const { received } = follow({ since: 1 })
    const [hello, gap, first] = [
      await received.next(),
      await received.next(),
      await received.next(),
    ]
    const { oldest } = helloSchema.parse(hello.value)
    expect(gap.value).toEqual({ kind: 'gap', from: 1, to: oldest - 1 })
    expect(first.value).toMatchObject({ seq: oldest })
  })

  it('loses no message if the caller is slower than the engine', async () => {
    const { received } = follow()
    await received.next()
    const total = 5000
    publish(total, ` ${'x'.repeat(4000)}`)
    await vi.waitFor(() => expect(output.status().newest).toBe(total), { timeout: 60_000 })
    expect((await readEvents(received, total)).map(type => type.split(' ', 2).join(' '))).toEqual(
      numbered(0, total),
    )
  })

  it('ends with its signal and when the caller stops iterating', async () => {
    const first = follow()
    await first.received.next()
    const pending = first.received.next()
    first.abort.abort()
    expect(await pending).toEqual({ done: true, value: undefined })

    const { received } = follow()
    for await (const message of received) if (message.kind === 'hello') break
    await vi.waitFor(() => expect(output.status().followers).toBe(0))
  })
})

it("throws the engine's error if the connection is rejected", async () => {
  const { engine } = await startEngine(createTemporaryFolder(), { EYRIE_ENGINE_TOKENS: 'secret' })
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    await engine.stop()
  })
  const url = `http://127.0.0.1:${server.port}`
  await expect(createClient({ url }).output().next()).rejects.toMatchObject({
    code: 'auth',
    status: 401,
  })
  const wrong = createClient({ url, token: 'secret' }).output({ channels: [-1] })
  await expect(wrong.next()).rejects.toMatchObject({ code: 'syntax', status: 400 })
})

/** The types of the next `count` events, skipping hello. */
async function readEvents(
  received: AsyncGenerator<ReceivedMessage, void>,
  count: number,
): Promise<string[]> {
  const types: string[] = []
  while (types.length < count) {
    const { value } = await received.next()
    if (value?.kind === 'event') types.push(value.data.type)
    else if (value?.kind !== 'hello') throw new Error(`unexpected: ${JSON.stringify(value)}`)
  }
  return types
}

const numbered = (after: number, count: number) =>
  Array.from({ length: count }, (_, i) => `event ${after + i + 1}`)
