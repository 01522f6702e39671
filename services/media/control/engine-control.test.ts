import { once } from 'node:events'
import {
  type MessageFromMedia,
  type MessageToMedia,
  mediaHealth,
  type SourceStatus,
} from '@eyrie/contract'
import { createLog } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import {
  connectControl,
  createDesiredSource,
  createViewSpec,
} from '../../../test/fixtures/media/control-client.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { systemClock } from '../runtime/clock.ts'
import type { Source } from '../sources/source.ts'
import { createEngineControl, type EngineConnection } from './engine-control.ts'

const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
const ball = createDesiredSource({ id: 1, type: 'inf', url: 'test://ball', views })

describe('control connection', () => {
  it('begins with a description of the media service', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const port = Number(new URL(media.url).port)
    expect(await control.message('hello')).toMatchObject({
      hostname: '127.0.0.1',
      port,
      gstreamer: expect.stringMatching(/^GStreamer 1\.\d+/),
      epoch: expect.any(Number),
    })
  })

  it('sends a new engine the existing sources and views', async () => {
    const media = await serveMedia()
    const first = await media.connectControl()
    await first.apply(ball)
    const { path, generation } = await first.message('view')
    await first.waitForStatus(1, ({ state }) => state === 'running')
    first.close()
    await first.closed

    const second = await media.connectControl()
    await second.apply(ball)
    expect(await second.message('view')).toMatchObject({ path, generation })
    expect(await second.message('source')).toMatchObject({ status: { id: 1, state: 'running' } })
  })

  it('is closed when another engine connects', async () => {
    const media = await serveMedia()
    const first = await media.connectControl()
    const second = await media.connectControl()
    expect(await first.closed).toEqual({ code: 4000, reason: 'another engine has connected' })
    await second.apply(ball)
    await second.message('frame')
  })

  it.each([
    ['text that is not JSON', 'hello?', /JSON/],
    ['an unknown message type', '{"type":"stop"}', /type/],
    ['a missing field', '{"type":"apply","revision":1}', /sources/],
    [
      'an unknown field',
      JSON.stringify({ type: 'apply', revision: 1, sources: [], more: 1 }),
      /more/,
    ],
  ])('is closed with a reason after %s', async (_, text, reason) => {
    const media = await serveMedia()
    const control = await media.connectControl()
    control.sendText(text)
    expect(await control.closed).toMatchObject({
      code: 4001,
      reason: expect.stringMatching(reason),
    })
    await (await media.connectControl()).apply(ball)
  })

  it('reports a source that cannot be created, and applies the other sources', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(createDesiredSource({ id: 2, type: 'zmq', url: 'nowhere' }), ball)
    const { reason } = await control.waitForStatus(2, ({ state }) => state === 'failed')
    expect(reason).toMatch(/./)
    await control.message('frame', ({ source }) => source === 1)
  })

  it('does not interrupt sources whose configuration is unchanged', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const other = { ...ball, id: 2 }
    await control.apply(ball, other)
    await control.message('frame', ({ source }) => source === 1)
    await control.message('frame', ({ source }) => source === 2)
    const before = control.messages.length
    await control.apply(ball, { ...other, address: { url: 'test://snow' } })
    await control.waitForNextMessage('frame', frame => frame.source === 2 && frame.discontinuity)
    await control.apply(ball)
    await control.waitForNextMessage('frame', ({ source }) => source === 1)

    const since = control.messages.slice(before)
    const ofBall = since.filter(each => each.type === 'source' && each.status.id === 1)
    expect(ofBall).toEqual([])
    expect(
      since.some(each => each.type === 'frame' && each.source === 1 && each.discontinuity),
    ).toBe(false)
    expect(await (await fetch(`${media.url}/streams`)).json()).toMatchObject([{ id: 1 }])
  })

  it('continues the stream time of a source that is replaced, or removed and added again', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const snow = { ...ball, address: { url: 'test://snow' } }
    for (const sources of [[ball], [snow], [], [ball]]) {
      await control.apply(...sources)
      if (sources.length > 0) await control.waitForNextMessage('frame')
    }
    const times = control.messages.flatMap(each => (each.type === 'frame' ? each.pts : []))
    expect(times.length).toBeGreaterThan(2)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })

  it('removes a source with its stream and rings', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    await control.apply(ball)
    await control.waitForStatus(1, ({ state }) => state === 'running')
    const socket = new WebSocket(`${media.url.replace('http', 'ws')}/streams/1/ws`)
    await once(socket, 'message')
    const closed = once(socket, 'close')
    await control.apply()
    expect((await closed)[0]).toBe(1000)
    expect((await fetch(`${media.url}/streams/1`)).status).toBe(404)
  })
})

describe('engine that connects while another engine is being served', () => {
  const status: SourceStatus = { id: 1, state: 'running' }
  const source = {
    status: () => status,
    rings: () => [{ key: 'grey', path: '/rings/source-1-1.ring', generation: 1 }],
  } as unknown as Source

  function createConnection(): EngineConnection & { messages: MessageFromMedia[] } {
    const messages: MessageFromMedia[] = []
    return { messages, send: message => messages.push(message), close() {} }
  }

  /** Creates a control that blocks in `apply` until the test unblocks it. */
  function createBlockedControl() {
    const unblocked = Promise.withResolvers<void>()
    const control = createEngineControl({
      sources: {
        apply: () => unblocked.promise,
        get: () => source,
        list: () => [source],
        removeViews: async () => {},
      },
      annotated: { apply: async () => {}, get: () => undefined, list: () => [] },
      recordings: { apply() {}, addEvent() {}, addResult() {} },
      clock: systemClock,
      log: createLog('media', 'silent'),
    })
    return { control, unblock: unblocked.resolve }
  }

  const apply = (revision: number) =>
    JSON.stringify({ type: 'apply', revision, sources: [], hosted: [] } satisfies MessageToMedia)

  it('receives the existing state although the other engine was applying a configuration', async () => {
    const { control, unblock } = createBlockedControl()
    const first = createConnection()
    const second = createConnection()
    control.connect(first)
    const firstApplied = control.receive(first, apply(1))
    // Lets the first engine's apply begin before the second engine connects.
    await new Promise(resolve => setImmediate(resolve))
    control.connect(second)
    const secondApplied = control.receive(second, apply(1))
    unblock()
    await Promise.all([firstApplied, secondApplied])
    expect(second.messages).toEqual([
      { type: 'source', status },
      { type: 'view', source: 1, view: 'grey', path: '/rings/source-1-1.ring', generation: 1 },
      { type: 'applied', revision: 1 },
    ])
  })

  it('receives the existing state only once', async () => {
    const { control, unblock } = createBlockedControl()
    const engine = createConnection()
    unblock()
    control.connect(engine)
    await control.receive(engine, apply(1))
    await control.receive(engine, apply(2))
    expect(engine.messages.map(({ type }) => type)).toEqual([
      'source',
      'view',
      'applied',
      'applied',
    ])
  })
})

describe('media service with an internal token', () => {
  const token = 'internal-token'

  it.each([
    '/streams',
    '/streams/1',
    '/streams/1/ws',
    '/streams/1/snapshot.jpg',
    '/recordings',
    '/metrics',
    '/internal/control',
  ])('rejects requests for %s without the token', async path => {
    const media = await serveMedia({ token })
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const answer = await fetch(`${media.url}${path}`, { headers })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(await answer.json()).toMatchObject({ code: 'auth' })
    }
  })

  it('accepts requests with the token, and health requests from everyone', async () => {
    const media = await serveMedia({ token })
    const control = await media.connectControl()
    await control.apply(ball)
    await control.waitForStatus(1, ({ state }) => state === 'running')
    const socket = new WebSocket(
      `${media.url.replace('http', 'ws')}/streams/1/ws?access_token=${token}`,
    )
    await once(socket, 'message')
    socket.close()
    expect(await media.readMetric('eyrie_media_sources', '{state="running"}')).toBe(1)
    expect(mediaHealth.parse(await (await fetch(`${media.url}/health`)).json())).toMatchObject({
      ok: true,
      engine: true,
      sources: { running: 1, failed: 0 },
    })
  })

  it('serves streams, recordings and metrics to holders of an engine token', async () => {
    const media = await serveMedia({ token, engineToken: 'of-the-engine' })
    const status = async (path: string) =>
      (await fetch(media.url + path, { headers: { authorization: 'Bearer of-the-engine' } })).status
    for (const path of ['/streams', '/recordings', '/metrics']) {
      expect([path, await status(path)]).toEqual([path, 200])
    }
    for (const path of ['/internal/control', '/cameras/discover']) {
      expect([path, await status(path)]).toEqual([path, 401])
    }
  })

  it('rejects a control connection with a wrong token', async () => {
    const media = await serveMedia({ token })
    await expect(connectControl(media.url, 'wrong')).rejects.toThrow('401')
  })
})
