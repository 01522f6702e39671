import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  controlPath,
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
const idle = { woken() {}, restarted() {}, changed() {} }

/** The other end of control connections: what media does is up to the test. */
let server: WebSocketServer
let received: MessageToMedia[]
let headers: string[]
let media: MediaClient

const send = (message: MessageFromMedia) => {
  for (const socket of server.clients) socket.send(JSON.stringify(message))
}
const hello = (epoch: number): MessageFromMedia => ({
  type: 'hello',
  epoch,
  gstreamer: '1.26',
  hostname: 'here',
  port: 8200,
})
const applies = () => received.filter(message => message.type === 'apply')
const wantedNow = () => applies().at(-1)?.sources

async function listen(port = 0, autoPong = true) {
  server = new WebSocketServer({ host: '127.0.0.1', port, path: controlPath, autoPong })
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

function connect(port: number, onCost: MediaListener['onCost'] = () => {}): MediaClient {
  return new MediaClient({
    url: `http://127.0.0.1:${port}`,
    token: 'secret',
    log: createLog('test', 'silent'),
    backoff: { initialMs: 5, maxMs: 20 },
    silenceMs: 100,
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

describe('what is wanted of media', () => {
  it('is sent with the internal token, and as one where it was changed together', async () => {
    media = connect(await listen())
    await vi.waitUntil(() => applies().length === 1)
    media.want([camera])
    media.open(1, [small], idle)
    media.open(1, [small, large], idle)
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

  it('loses a view with its last feed', async () => {
    media = connect(await listen())
    media.want([camera])
    const one = media.open(1, [small], idle)
    const other = media.open(1, [small], idle)
    await vi.waitUntil(() => wantedNow()?.length === 1)
    one.close()
    media.want([camera, { ...camera, id: 2 }])
    await vi.waitUntil(() => wantedNow()?.length === 2)
    expect(wantedNow()?.[0]?.views).toEqual({ [viewKey(small)]: small })
    other.close()
    await vi.waitUntil(() => Object.keys(wantedNow()?.[0]?.views ?? {}).length === 0)
  })

  it('is sent as a whole again whenever the connection was lost', async () => {
    const port = await listen()
    media = connect(port)
    media.want([camera])
    await vi.waitUntil(() => wantedNow()?.length === 1)
    const before = wantedNow()
    for (let loss = 0; loss < 3; loss++) {
      await close()
      await vi.waitUntil(() => media.absence?.includes(`127.0.0.1:${port}`))
      received = []
      await listen(port)
      await vi.waitUntil(() => applies().length > 0)
      expect(wantedNow()).toEqual(before)
    }
  })
})

describe('what media says', () => {
  it('is known of sources until media is another', async () => {
    media = connect(await listen())
    media.want([camera])
    await vi.waitUntil(() => wantedNow()?.length === 1)
    send(hello(1))
    send({ type: 'source', status: { id: 1, state: 'running' } })
    await vi.waitUntil(() => media.status(1)?.state === 'running')
    expect(media.server).toMatchObject({ hostname: 'here', port: 8200, epoch: 1 })
    send(hello(2))
    await vi.waitUntil(() => media.server?.epoch === 2)
    expect(media.status(1)).toBeUndefined()
  })

  it('of costs is told of the source that is meant, and of no other', async () => {
    const told: unknown[] = []
    media = connect(await listen(), (...cost) => told.push(cost))
    media.want([camera])
    await vi.waitUntil(() => wantedNow()?.length === 1)
    send({ type: 'cost', source: 9, fps: 25, decode_ms: 3 })
    send({ type: 'cost', source: 1, fps: 25, decode_ms: 4, scale_ms: 0.5 })
    await vi.waitUntil(() => told.length > 0)
    expect(told).toEqual([[camera, { fps: 25, decodeMs: 4, scaleMs: 0.5 }]])
  })

  it('is passed over where the contract does not know it, or the view is no longer wanted', async () => {
    media = connect(await listen())
    await vi.waitUntil(() => applies().length === 1)
    for (const socket of server.clients) socket.send('nonsense')
    send({ type: 'frame', source: 9, view: 'gone', n: 1, pts: 0, time: 0, discontinuity: false })
    send(hello(1))
    await vi.waitUntil(() => media.server?.epoch === 1)
  })

  it('of a view that cannot be made is the reason why a feed fails', async () => {
    media = connect(await listen())
    media.want([camera])
    const feed = media.open(1, [small], idle)
    await vi.waitUntil(() => wantedNow()?.length === 1)
    send({ type: 'view-failed', source: 1, view: viewKey(small), reason: 'no memory' })
    await vi.waitUntil(() => feed.failure === 'no memory')
  })
})

it('media that answers no more is taken to be gone', async () => {
  media = connect(await listen(0, false))
  await vi.waitUntil(() => applies().length === 1)
  await vi.waitUntil(() => applies().length === 2)
})
