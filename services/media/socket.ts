import type { WSContext } from 'hono/ws'
import type { WebSocket } from 'ws'

/** Bytes that a WebSocket has been given and that have not left yet. */
export function backlog(socket: WSContext): number {
  return (socket.raw as unknown as WebSocket).bufferedAmount
}
