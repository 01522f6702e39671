import type { WSContext } from 'hono/ws'
import type { WebSocket } from 'ws'

/** Bytes queued on a WebSocket that are still unsent. */
export function bufferedBytes(socket: WSContext): number {
  return (socket.raw as unknown as WebSocket).bufferedAmount
}

/** Room in a close frame beside its code (RFC 6455, 5.5). */
const MAX_REASON_BYTES = 123

/** Closes a WebSocket with a reason, cut to the size of a close frame: a longer one would throw and close nothing. */
export function closeSocket(socket: WSContext, code: number, reason: string): void {
  const bytes = Buffer.from(reason).subarray(0, MAX_REASON_BYTES)
  // Decoded as a stream, which omits a character that was cut in two.
  socket.close(code, new TextDecoder().decode(bytes, { stream: true }))
}
