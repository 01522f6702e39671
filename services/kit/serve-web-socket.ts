import { EyrieError } from '@eyrie/contract/errors'
import { upgradeWebSocket } from '@hono/node-server'
import type { Context, HonoRequest, MiddlewareHandler } from 'hono'
import type { WSEvents } from 'hono/ws'

/**
 * Serves a WebSocket. `read` parses the request and may throw; then `open` starts the connection. A malformed handshake
 * is rejected with `syntax` before `open` is called.
 */
export function serveWebSocket<Input>(
  read: (c: Context) => Input,
  open: (input: Input) => WSEvents,
): MiddlewareHandler {
  return upgradeWebSocket(c => {
    const input = read(c)
    const error = findHandshakeError(c.req)
    if (!error) return open(input)
    c.header('Sec-WebSocket-Version', '13')
    throw new EyrieError('syntax', `${c.req.path} is a WebSocket: ${error}`)
  })
}

/** Checks the handshake rules that ws enforces (RFC 6455, 4.2.1). */
function findHandshakeError(request: HonoRequest): string | undefined {
  const header = (name: string) => request.header(name) ?? ''
  if (request.method !== 'GET' || header('Upgrade').toLowerCase() !== 'websocket')
    return 'connect with a ws:// or wss:// URL'
  if (!header('Host')) return 'Host is missing'
  if (!/^[+/\dA-Za-z]{22}==$/.test(header('Sec-WebSocket-Key')))
    return 'Sec-WebSocket-Key must be 16 bytes in base64'
  if (!/^(8|13)$/.test(header('Sec-WebSocket-Version'))) return 'Sec-WebSocket-Version must be 13'
  return undefined
}
