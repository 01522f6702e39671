import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** Writes an answer on a connection of which the server lets go, and closes it. Not to be called on one that is half answered. */
export function lastAnswer(socket: Duplex, status: number, headers: Headers, body: Uint8Array): void {
  headers.set('Connection', 'close')
  headers.set('Content-Length', String(body.length))
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]), () => socket.destroy())
}
