import type { WSContext } from 'hono/ws'
import type { WebSocket } from 'ws'

/** Room in a close frame after the status code (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123

/** Returns the number of bytes queued on a WebSocket but not yet sent. */
export function bufferedBytes(socket: WSContext): number {
  return (socket.raw as unknown as WebSocket).bufferedAmount
}

/**
 * Closes a WebSocket. Truncates the reason to the size of a close frame, because `close` throws if
 * the reason is too long.
 */
export function closeSocket(socket: WSContext, code: number, reason: string): void {
  const bytes = Buffer.from(reason).subarray(0, MAX_REASON_BYTES)
  // Decoding as a stream omits an incomplete character at the end.
  socket.close(code, new TextDecoder().decode(bytes, { stream: true }))
}
