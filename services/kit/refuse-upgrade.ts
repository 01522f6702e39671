import { once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { EyrieError } from '@eyrie/contract/errors'
import type { Http2Bindings, HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'

/** Answers who comes to a WebSocket without asking for one. */
export function webSocketOnly({ req }: { req: { path: string } }): never {
  throw new EyrieError('syntax', `${req.path} is a WebSocket: connect to it with the ws:// scheme`)
}

/**
 * Answers an upgrade that is refused as the app says, body included: the server itself would send the status alone. An
 * answer with a body or an error's status is a refusal; that of an accepted WebSocket is empty.
 */
export function withRefusals({ fetch }: Pick<Hono, 'fetch'>) {
  return async (request: Request, bindings: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await fetch(request, bindings)
    const isUpgrade = !bindings.outgoing
    if (isUpgrade && (response.status >= 400 || response.body))
      await refuse(bindings.incoming.socket, response)
    return response
  }
}

/** Resolves when the connection is closed, so that nobody answers once more. */
async function refuse(socket: Socket, response: Response): Promise<void> {
  const body = Buffer.from(await response.clone().arrayBuffer())
  const headers = new Headers(response.headers)
  headers.set('Connection', 'close')
  headers.set('Content-Length', String(body.length))
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
  const status = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`
  if (socket.destroyed) return
  const closed = once(socket, 'close')
  socket.write(Buffer.concat([Buffer.from(`${[status, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'), body]))
  socket.destroySoon()
  await closed
}
