import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  CONTROL_PATH,
  type MessageFromMedia,
  type MessageToMedia,
  messageToMedia,
} from '@eyrie/contract/media'
import { viewSpec } from '@eyrie/contract/view'
import { createLog } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { viewKey } from '../frames/views.ts'
import type { SourcePlan } from '../plan/plan.ts'
import { MediaClient, type MediaListener } from './media-client.ts'

const camera: SourcePlan = {
  id: 1,
  type: 'video',
  address: { url: 'rtsp://camera/1' },
  decoder: 'gst_h264',
  rate: undefined,
  pacing: 'realtime',
  ended: false,
}
const small = viewSpec.parse({ format: 'GRAY8', width: 32 })
const large = viewSpec.parse({ format: 'RGBP', width: 416, multiple_of: 32 })
const idle = { onFrame() {}, onRestart() {}, onChange() {} }

/** The other end of control connections: what media does is up to the test. */
let server: WebSocketServer
let received: MessageToMedia[]
let headers: string[]
let media: MediaClient

const send = (message: MessageFromMedia) => {
  for (const socket of server.clients) socket.send(JSON.stringify(message))
}
const hello = (epoch: number, port = 8200): MessageFromMedia => ({
  type: 'hello',
  epoch,
  gstreamer: '1.26',
  hostname: 'here',
  port,
})
const applies = () => received.filter(message => message.type === 'apply')
const wantedNow = () => applies().at(-1)?.sources

async function listen(port = 0, autoPong = true) {
  server = new WebSocketServer({ host: '127.0.0.1', port, path: CONTROL_PATH, autoPong })
  server.on('connection', (socket: WebSocket, request) => {
    headers.push(request.headers.authorization ?? '')
    socket.on('message', data => received.push(messageToMedia.parse(JSON.parse(String(data)))))
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function close() {
  for (const socket of server.clients) socket.terminate()
  server.close()
  await once(server, 'close')
}

interface ConnectOptions {
  onCost?: MediaListener['onCost']
  /** Long, because a busy machine may answer a ping late. */
  pongTimeoutMs?: number
}

function connect(
  port: number,
  { onCost = () => {}, pongTimeoutMs = 60_000 }: ConnectOptions = {},
): MediaClient {
  return new MediaClient({
    url: `http://127.0.0.1:${port}`,
    token: 'secret',
    log: createLog('test', 'silent'),
    backoff: { initialMs: 5, maxMs: 20 },
    pongTimeoutMs,
    onStatus: () => {},
    onCost,
  })
}

beforeEach(() => {
  received = []
  headers = []
})
afterEach(async () => {
  media.stop()
  await close()
})

describe('desired state of media', () => {
  it('is sent with the internal token, combining changes made together', async () => {
    media = connect(await listen())
    await vi.waitUntil(() => applies().length === 1)
    media.setSources([camera])
    media.openFeed(1, [small], idle)
    media.openFeed(1, [small, large], idle)
    await vi.waitUntil(() => applies().length === 2)
    expect(headers).toEqual(['Bearer secret'])
    expect(wantedNow()).toEqual([
      {
        id: 1,
        type: 'video',
        address: { url: 'rtsp://camera/1' },
        decoder: 'gst_h264',
        pacing: 'realtime',
        views: { [viewKey(small)]: small, [viewKey(large)]: large },
      },
    ])
  })

  it('drops a view when its last feed closes', async () => {
    media = connect(await listen())
    media.setSources([camera])
    const one = media.openFeed(1, [small], idle)
    const other = media.openFeed(1, [small], idle)
    await vi.waitUntil(() => wantedNow()?.length === 1)
    one.close()
    media.setSources([camera, { ...camera, id: 2 }])
    await vi.waitUntil(() => wantedNow()?.length === 2)
    expect(wantedNow()?.[0]?.views).toEqual({ [viewKey(small)]: small })
    other.close()
    await vi.waitUntil(() => Object.keys(wantedNow()?.[0]?.views ?? {}).length === 0)
  })

  it('is sent again completely after every reconnect', async () => {
    const port = await listen()
    media = connect(port)
    media.setSources([camera])
    await vi.waitUntil(() => wantedNow()?.length === 1)
    const before = wantedNow()
    for (let loss = 0; loss < 3; loss++) {
      await close()
      await vi.waitUntil(() => media.outage?.includes(`127.0.0.1:${port}`))
      received = []
      await listen(port)
      await vi.waitUntil(() => applies().length > 0)
      expect(wantedNow()).toEqual(before)
    }
  })
})

describe('messages from media', () => {
  it('set the status of sources until media restarts', async () => {
    media = connect(await listen())
    media.setSources([camera])
    await vi.waitUntil(() => wantedNow()?.length === 1)
    send(hello(1))
    send({ type: 'source', status: { id: 1, state: 'running' } })
    await vi.waitUntil(() => media.status(1)?.state === 'running')
    expect(media.server).toMatchObject({ hostname: 'here', port: 8200, epoch: 1 })
    send(hello(2))
    await vi.waitUntil(() => media.server?.epoch === 2)
    expect(media.status(1)).toBeUndefined()
  })

  it('report costs for known sources only', async () => {
    const costs: unknown[] = []
    media = connect(await listen(), { onCost: (...cost) => costs.push(cost) })
    media.setSources([camera])
    await vi.waitUntil(() => wantedNow()?.length === 1)
    send({ type: 'cost', source: 9, fps: 25, decode_ms: 3 })
    send({ type: 'cost', source: 1, fps: 25, decode_ms: 4, scale_ms: 0.5 })
    await vi.waitUntil(() => costs.length > 0)
    expect(costs).toEqual([[camera, { fps: 25, decodeMs: 4, scaleMs: 0.5 }]])
  })

  it('are ignored if they are unknown or concern a closed view', async () => {
    media = connect(await listen())
    await vi.waitUntil(() => applies().length === 1)
    for (const socket of server.clients) socket.send('nonsense')
    send({ type: 'frame', source: 9, view: 'gone', n: 1, pts: 0, time: 0, discontinuity: false })
    send(hello(1))
    await vi.waitUntil(() => media.server?.epoch === 1)
  })

  it('about an earlier run of a source are ignored until media has removed it', async () => {
    media = connect(await listen())
    media.setSources([camera])
    media.openFeed(1, [small], idle)
    await vi.waitUntil(() => wantedNow()?.length === 1)
    send(hello(1))
    media.setSources([])
    await vi.waitUntil(() => wantedNow()?.length === 0)
    const { revision } = applies().at(-1)!
    media.setSources([camera])
    await vi.waitUntil(() => wantedNow()?.length === 1)

    const view = viewKey(small)
    send({ type: 'source', status: { id: 1, state: 'ended' } })
    send({ type: 'frame', source: 1, view, n: 300, pts: 0, time: 0, discontinuity: false })
    send(hello(1, 8300))
    await vi.waitUntil(() => media.server?.port === 8300)
    expect(media.status(1)).toBeUndefined()
    expect(media.openFeed(1, [small], idle).consumed).toBe(0)

    send({ type: 'applied', revision })
    send({ type: 'source', status: { id: 1, state: 'running' } })
    await vi.waitUntil(() => media.status(1)?.state === 'running')
  })

  it('make a feed fail if its view cannot be created', async () => {
    media = connect(await listen())
    media.setSources([camera])
    const feed = media.openFeed(1, [small], idle)
    await vi.waitUntil(() => wantedNow()?.length === 1)
    send({ type: 'view-failed', source: 1, view: viewKey(small), reason: 'no memory' })
    await vi.waitUntil(() => feed.failure === 'no memory')
  })
})

it('media counts as disconnected when it stops answering pings', async () => {
  media = connect(await listen(0, false), { pongTimeoutMs: 100 })
  await vi.waitUntil(() => applies().length === 1)
  await vi.waitUntil(() => applies().length === 2)
})
