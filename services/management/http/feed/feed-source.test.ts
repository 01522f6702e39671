import { once } from 'node:events'
import { connect } from 'node:net'
import type { FeedEvent } from '@eyrie/contract/management/feed'
import { listen } from '@eyrie/kit'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { serveFeedEvents } from './feed-events.ts'
import type { FeedSource } from './feed-source.ts'
import { serveFeedWebSocket } from './feed-web-socket.ts'

const BATCH_BYTES = 100_000
const STALL_MS = 500

/** A feed that always has more to send, and counts what was requested from it. */
function createEndlessSource() {
  const requested = { batches: 0 }
  const source: FeedSource = {
    stallMs: STALL_MS,
    toEndEvent: () => ({ kind: 'end', code: 'unavailable', reason: 'ended' }),
    async *follow(signal: AbortSignal): AsyncGenerator<FeedEvent[]> {
      while (!signal.aborted) {
        requested.batches += 1
        yield [{ id: String(requested.batches), kind: 'ready' }, filler]
      }
    },
  }
  return { source, requested }
}

const filler: FeedEvent = { kind: 'end', code: 'filler', reason: 'x'.repeat(BATCH_BYTES) }

async function serve(source: FeedSource): Promise<number> {
  const app = new Hono()
  app.get('/events', c => serveFeedEvents(c, source))
  app.get('/socket', c => serveFeedWebSocket(c, source))
  const server = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0)
  onTestFinished(() => server.close())
  return server.port
}

const HANDSHAKE =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'

/** Sends a request, and then reads nothing. */
async function connectWithoutReading(port: number, path: string) {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${path === '/socket' ? HANDSHAKE : ''}\r\n`,
  )
  onTestFinished(() => void socket.destroy())
  return socket
}

describe.each(['/events', '/socket'])('a client of %s that does not read', path => {
  it('makes nothing pile up, and is disconnected', async () => {
    const { source, requested } = createEndlessSource()
    const port = await serve(source)
    const socket = await connectWithoutReading(port, path)
    await vi.waitUntil(() => requested.batches > 0)
    const closed = new Promise(resolve => socket.once('close', resolve))
    // The source is asked for no more once the buffers of the kernel are full.
    await vi.waitUntil(async () => {
      const { batches } = requested
      await new Promise(resolve => setTimeout(resolve, 2 * STALL_MS))
      return batches === requested.batches
    })
    expect(requested.batches * BATCH_BYTES).toBeLessThan(32 << 20)
    socket.resume()
    await closed
  })
})

describe('a feed that ends with an error', () => {
  it('reports the reason as its last event', async () => {
    const port = await serve({
      toEndEvent: error => ({ kind: 'end', code: 'rights', reason: (error as Error).message }),
      // biome-ignore lint/correctness/useYield: it fails at once
      async *follow() {
        throw new Error('your rights were revoked')
      },
    })
    const text = await (await fetch(`http://127.0.0.1:${port}/events`)).text()
    expect(text).toBe(
      'event: end\ndata: {"kind":"end","code":"rights","reason":"your rights were revoked"}\n\n',
    )
    const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`)
    const messages: string[] = []
    socket.onmessage = ({ data }) => messages.push(String(data))
    const code = await new Promise(resolve => {
      socket.onclose = event => resolve(event.code)
    })
    expect({ code, messages }).toEqual({
      code: 1008,
      messages: ['{"kind":"end","code":"rights","reason":"your rights were revoked"}'],
    })
  })
})
