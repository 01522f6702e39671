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

/**
 * Serves a feed as a WebSocket. Disconnects a client that does not receive events in time or does
 * not answer pings. Throws `EyrieError` (`syntax`) for a malformed handshake.
 */
export async function serveFeedWebSocket(context: Context, source: FeedSource): Promise<Response> {
  const handler = serveWebSocket(
    // The request was checked before, so nothing is left to parse.
    () => undefined,
    () => ({
      onOpen(_event, client) {
        // On Node, `raw` is a socket of the library ws.
        void sendFeed(source, client.raw as WebSocket)
      },
    }),
  )
  // The handler always responds itself and never calls `next`.
  const response = await handler(context, async () => {})
  return response as Response
}

async function sendFeed(
  { follow, toEndEvent, stallMs = STALL_MS }: FeedSource,
  socket: WebSocket,
): Promise<void> {
  const ending = new AbortController()
  socket.on('close', () => ending.abort())
  // Errors need no handling: `close` always follows `error`.
  socket.on('error', () => {})
  const stopPings = terminateIfSilent(socket)
  try {
    for await (const batch of follow(ending.signal)) {
      await send(socket, batch, stallMs)
      // The client has disconnected, or was too slow.
      if (socket.readyState !== socket.OPEN) return
    }
    socket.close(NORMAL)
  } catch (error) {
    if (ending.signal.aborted) return
    const endEvent = toEndEvent(error)
    await send(socket, [endEvent], stallMs)
    socket.close(isDenial(endEvent) ? POLICY_VIOLATION : TRY_AGAIN_LATER)
  } finally {
    stopPings()
  }
}

/** Returns whether the feed has ended because the client may no longer follow it. */
const isDenial = (event: FeedEvent) =>
  event.kind === 'end' && (event.code === 'auth' || event.code === 'rights')

/**
 * Sends events. Resolves when they have left this process, or when the connection is closed. Closes
 * the connection if sending takes longer than `stallMs`.
 */
async function send(
  socket: WebSocket,
  batch: readonly FeedEvent[],
  stallMs: number,
): Promise<void> {
  if (batch.length === 0) return
  const stallTimer = setTimeout(() => socket.terminate(), stallMs)
  const sentOrClosed = Promise.withResolvers<void>()
  const finish = () => sentOrClosed.resolve()
  socket.once('close', finish)
  // Events leave in order, so all have been sent when the last one has.
  batch.forEach((event, index) => {
    const isLast = index === batch.length - 1
    socket.send(JSON.stringify(event), { compress: false }, isLast ? finish : undefined)
  })
  await sentOrClosed.promise
  clearTimeout(stallTimer)
  socket.off('close', finish)
}

/**
 * Sends pings periodically. Ends the connection if the client does not answer a ping before the
 * next one. Returns a function that stops the pings.
 */
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
