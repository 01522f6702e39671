import type { WebSocket } from 'ws'

/** Above this many bytes waiting for the client, nothing more is read from upstream. */
const HIGH_WATER_BYTES = 512 * 1024

/** WebSocket close codes (RFC 6455, 7.4) that may be sent on. */
const sendable = (code: number) => code <= 1003 || code >= 1007
const TRY_AGAIN_LATER = 1013
const SERVICE_RESTART = 1012
/** A close frame has room for 123 bytes of reason. */
const REASON_BYTES = 123

/**
 * Hands on what `upstream` sends, no faster than `client` reads: a slow client fills upstream's own buffers, and
 * upstream knows best what to drop. Nothing goes the other way. The end of one is the end of the other; why upstream
 * could not be reached stands in the close frame, since browsers hide the answer to a failed handshake.
 */
export async function relay(connecting: Promise<WebSocket>, client: WebSocket): Promise<void> {
  try {
    pipe(await connecting, client)
  } catch (error) {
    client.close(TRY_AGAIN_LATER, shortened((error as Error).message))
  }
}

function pipe(upstream: WebSocket, client: WebSocket) {
  const readOn = () => {
    if (client.bufferedAmount < HIGH_WATER_BYTES && upstream.isPaused) upstream.resume()
  }
  upstream.on('message', (data, binary) => {
    client.send(data, { binary, compress: false }, readOn)
    if (client.bufferedAmount >= HIGH_WATER_BYTES) upstream.pause()
  })
  // An error of a WebSocket is always followed by its end.
  upstream.on('error', () => {})
  client.on('error', () => {})
  upstream.on('close', (code, reason) => client.close(sendable(code) ? code : SERVICE_RESTART, reason))
  client.on('close', () => upstream.terminate())
  if (client.readyState === client.OPEN) upstream.resume()
  else upstream.terminate()
}

/** As many whole characters as a close frame has room for. */
function shortened(text: string): Buffer {
  const bytes = Buffer.alloc(REASON_BYTES)
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written)
}
