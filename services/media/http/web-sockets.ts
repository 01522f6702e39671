import type { WSContext } from 'hono/ws'
import type { WebSocket } from 'ws'

/** Bytes that a WebSocket has been given and that have not left yet. */
export function bufferedBytes(socket: WSContext): number {
  return (socket.raw as unknown as WebSocket).bufferedAmount
}

/** What a close frame has room for beside its code (RFC 6455, 5.5). */
const MOST_REASON_BYTES = 123

/** Closes a WebSocket and says why, as far as there is room: a longer reason would be refused, and nothing be closed. */
export function closeSocket(socket: WSContext, code: number, reason: string): void {
  const bytes = Buffer.from(reason).subarray(0, MOST_REASON_BYTES)
  // As a stream that goes on, so that a character which was cut in two is left out.
  socket.close(code, new TextDecoder().decode(bytes, { stream: true }))
}
