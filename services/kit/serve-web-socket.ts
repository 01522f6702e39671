import { EyrieError } from '@eyrie/contract/errors'
import { upgradeWebSocket } from '@hono/node-server'
import type { Context, HonoRequest, MiddlewareHandler } from 'hono'
import type { WSEvents } from 'hono/ws'

const WEB_SOCKET_VERSION = '13'
/** Sixteen bytes in base64. */
const WEB_SOCKET_KEY = /^[+/\dA-Za-z]{22}==$/
/** The library ws also accepts version 8, a draft of the standard. */
const ACCEPTED_VERSIONS = ['8', WEB_SOCKET_VERSION]

/**
 * Creates the handler of a WebSocket endpoint. `parseRequest` may throw to reject the
 * request; `open` returns the listeners of the connection. A malformed handshake is rejected
 * with the code `syntax`.
 */
export function serveWebSocket<Input>(
  parseRequest: (c: Context) => Input,
  open: (input: Input) => WSEvents,
): MiddlewareHandler {
  return upgradeWebSocket(c => {
    const input = parseRequest(c)
    const handshakeError = findHandshakeError(c.req)
    if (handshakeError === undefined) return open(input)
    c.header('Sec-WebSocket-Version', WEB_SOCKET_VERSION)
    throw new EyrieError('syntax', `${c.req.path} is a WebSocket: ${handshakeError}`)
  })
}

/**
 * Checks the rules of the WebSocket handshake (RFC 6455, section 4.2.1) that the
 * library ws enforces.
 */
function findHandshakeError(request: HonoRequest): string | undefined {
  const readHeader = (name: string) => request.header(name) ?? ''

  const isUpgrade = request.method === 'GET' && readHeader('Upgrade').toLowerCase() === 'websocket'
  if (!isUpgrade) return 'connect with a ws:// or wss:// URL'
  if (!readHeader('Host')) return 'Host is missing'
  if (!WEB_SOCKET_KEY.test(readHeader('Sec-WebSocket-Key'))) {
    return 'Sec-WebSocket-Key must be 16 bytes in base64'
  }
  if (!ACCEPTED_VERSIONS.includes(readHeader('Sec-WebSocket-Version'))) {
    return `Sec-WebSocket-Version must be ${WEB_SOCKET_VERSION}`
  }
  return undefined
}
