import type { WebSocket } from 'ws'

/** Reading from upstream pauses while more bytes than this wait for the client. */
const HIGH_WATER_BYTES = 512 * 1024

const SERVICE_RESTART = 1012
const TRY_AGAIN_LATER = 1013
/** A close frame has room for a reason of 123 bytes. */
const MAX_REASON_BYTES = 123

/** Whether a close code may be sent (RFC 6455, 7.4): 1004 to 1006 are reserved. */
const isSendable = (code: number) => code <= 1003 || code >= 1007

/**
 * Forwards messages from upstream to the client, no faster than the client reads: a slow client fills the buffers of
 * upstream, which knows best what to drop. Nothing is sent upstream. If either side closes, so does the other. If upstream
 * is unreachable, the close frame carries the reason, because browsers hide the answer to a failed handshake.
 */
export async function relayWebSocket(connecting: Promise<WebSocket>, client: WebSocket): Promise<void> {
  try {
    pipe(await connecting, client)
  } catch (error) {
    client.close(TRY_AGAIN_LATER, truncateReason((error as Error).message))
  }
}

function pipe(upstream: WebSocket, client: WebSocket) {
  const resumeIfDrained = () => {
    if (client.bufferedAmount < HIGH_WATER_BYTES && upstream.isPaused) upstream.resume()
  }
  upstream.on('message', (data, binary) => {
    client.send(data, { binary, compress: false }, resumeIfDrained)
    if (client.bufferedAmount >= HIGH_WATER_BYTES) upstream.pause()
  })
  // `close` always follows `error`.
  upstream.on('error', () => {})
  client.on('error', () => {})
  upstream.on('close', (code, reason) => client.close(isSendable(code) ? code : SERVICE_RESTART, reason))
  client.on('close', () => upstream.terminate())
  if (client.readyState === client.OPEN) upstream.resume()
  else upstream.terminate()
}

/** Encodes as many whole characters as fit into a close frame. */
function truncateReason(text: string): Buffer {
  const bytes = Buffer.alloc(MAX_REASON_BYTES)
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written)
}
