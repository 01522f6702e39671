import { once } from 'node:events'
import { listen } from '@eyrie/kit'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createViewerEvents } from './stream-viewers.ts'

describe('viewer of a stream over a WebSocket', () => {
  it('is disconnected with the reason when the stream cannot be opened', async () => {
    const openStream = () => Promise.reject(new RangeError('the rate is out of range'))
    const app = new Hono()
    app.get(
      '/ws',
      serveWebSocket(
        () => undefined,
        () => createViewerEvents(openStream),
      ),
    )
    const server = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0)
    onTestFinished(() => server.close())

    const [code, reason] = await once(new WebSocket(`ws://127.0.0.1:${server.port}/ws`), 'close')
    expect([code, String(reason)]).toEqual([
      1011,
      'failed to open the stream: the rate is out of range',
    ])
  })
})
