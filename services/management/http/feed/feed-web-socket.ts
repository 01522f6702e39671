import type { FeedEvent } from '@eyrie/contract/management/feed'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { Context } from 'hono'
import type { WebSocket } from 'ws'
import { type FeedSource, STALL_MS } from './feed-source.ts'
import { HEARTBEAT_MS } from './follow-feed.ts'

/** Close codes of the IANA WebSocket registry. */
const NORMAL = 1000
const POLICY_VIOLATION = 1008
const TRY_AGAIN_LATER = 1013

/** Serves a feed as a WebSocket. Throws `EyrieError` (`syntax`) for a malformed handshake. */
export async function serveFeedWebSocket(context: Context, source: FeedSource): Promise<Response> {
  const handler = serveWebSocket(
    () => source,
    () => ({
      onOpen(_event, client) {
        void sendFeed(source, client.raw as WebSocket)
      },
    }),
  )
  const response = await handler(context, async () => {})
  return response as Response
}

async function sendFeed({ follow, toEnd, stallMs = STALL_MS }: FeedSource, socket: WebSocket): Promise<void> {
  const ending = new AbortController()
  socket.on('close', () => ending.abort())
  // `close` always follows `error`.
  socket.on('error', () => {})
  const stopPings = terminateIfSilent(socket)
  try {
    for await (const batch of follow(ending.signal)) {
      await send(socket, batch, stallMs)
      // A connection that is closing accepts nothing, and says so at once.
      if (socket.readyState !== socket.OPEN) return
    }
    socket.close(NORMAL)
  } catch (error) {
    if (ending.signal.aborted) return
    const end = toEnd(error)
    await send(socket, [end], stallMs)
    const isDenied = end.kind === 'end' && (end.code === 'auth' || end.code === 'rights')
    socket.close(isDenied ? POLICY_VIOLATION : TRY_AGAIN_LATER)
  } finally {
    stopPings()
  }
}

/** Sends events. Resolves when they have left this process, or the connection is closed. */
async function send(socket: WebSocket, batch: readonly FeedEvent[], stallMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stallTimer = setTimeout(() => socket.terminate(), stallMs)
  socket.once('close', resolve)
  const last = batch.length - 1
  for (const [index, event] of batch.entries())
    socket.send(JSON.stringify(event), { compress: false }, () => {
      if (index === last) resolve()
    })
  await promise
  clearTimeout(stallTimer)
  socket.off('close', resolve)
}

/** Ends the connection of a client that does not answer pings. */
function terminateIfSilent(socket: WebSocket): () => void {
  let isAlive = true
  socket.on('pong', () => {
    isAlive = true
  })
  const timer = setInterval(() => {
    if (!isAlive) socket.terminate()
    isAlive = false
    socket.ping()
  }, 2 * HEARTBEAT_MS)
  return () => clearInterval(timer)
}
