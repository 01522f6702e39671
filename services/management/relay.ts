import type { WebSocket } from 'ws'

/** Above this many bytes waiting for the client, nothing more is read from upstream. */
const HIGH_WATER_BYTES = 512 * 1024

/** WebSocket close codes (RFC 6455, 7.4) that may be sent on. */
const sendable = (code: number) => code === 1000 || (code >= 1001 && code <= 1003) || code >= 1007
const TRY_AGAIN_LATER = 1013
const SERVICE_RESTART = 1012
/** A close frame has room for 123 bytes of reason. */
const REASON_BYTES = 123

/**
 * Hands on what `upstream` sends, no faster than `client` reads: a slow client fills upstream's own buffers, and
 * upstream knows best what to drop. Nothing goes the other way. The end of one is the end of the other; why upstream
 * could not be reached stands in the close frame, since browsers hide the answer to a failed handshake.
 */
export function relay(upstream: WebSocket, client: WebSocket): void {
  const readOn = () => {
    if (client.bufferedAmount < HIGH_WATER_BYTES && upstream.isPaused) upstream.resume()
  }
  upstream.on('message', (data, binary) => {
    if (client.readyState !== client.OPEN) return
    client.send(data, { binary, compress: false }, readOn)
    if (client.bufferedAmount >= HIGH_WATER_BYTES) upstream.pause()
  })
  upstream.on('error', error => client.close(TRY_AGAIN_LATER, explain(error)))
  upstream.on('close', (code, reason) => client.close(sendable(code) ? code : SERVICE_RESTART, reason))
  client.on('close', () => upstream.terminate())
  client.on('error', () => upstream.terminate())
}

function explain(error: Error): Buffer {
  return Buffer.from(error.message).subarray(0, REASON_BYTES)
}
