import { EyrieError } from '@eyrie/contract/errors'
import { upgradeWebSocket } from '@hono/node-server'
import type { Context, HonoRequest, MiddlewareHandler } from 'hono'
import type { WSEvents } from 'hono/ws'

/**
 * Serves a WebSocket: `open` begins what `read` has found to be asked for. What is no handshake is refused as `syntax`
 * between the two.
 */
export function serveWebSocket<Asked>(
  read: (c: Context) => Asked,
  open: (asked: Asked) => WSEvents,
): MiddlewareHandler {
  return upgradeWebSocket(c => {
    const asked = read(c)
    const fault = handshakeFault(c.req)
    if (!fault) return open(asked)
    c.header('Sec-WebSocket-Version', '13')
    throw new EyrieError('syntax', `${c.req.path} is a WebSocket: ${fault}`)
  })
}

/** The rules of RFC 6455, 4.2.1, that ws holds a handshake to. */
function handshakeFault(request: HonoRequest): string | undefined {
  const header = (name: string) => request.header(name) ?? ''
  if (request.method !== 'GET' || header('Upgrade').toLowerCase() !== 'websocket')
    return 'connect to it with the ws:// scheme'
  if (!header('Host')) return 'Host is missing'
  if (!/^[+/\dA-Za-z]{22}==$/.test(header('Sec-WebSocket-Key')))
    return 'Sec-WebSocket-Key must hold 16 bytes in base64'
  if (!/^(8|13)$/.test(header('Sec-WebSocket-Version'))) return 'Sec-WebSocket-Version must be 13'
  return undefined
}
