import { once } from 'node:events'
import { maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { EyrieError } from '@eyrie/contract/errors'
import type { Http2Bindings, HttpBindings } from '@hono/node-server'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WebSocketServer } from 'ws'

interface Readers {
  server: Server
  sockets: WebSocketServer
  /** Takes what can be read, with `hostname` where a request of HTTP/1.0 names no host. */
  fetch: Parameters<typeof getRequestListener>[0]
  hostname: string
}

/** Refuses in words what Node, its adaptor or ws cannot read, and would answer without a word. */
export function handleProtocolErrors(
  { server, sockets, fetch, hostname }: Readers,
  bodyOf: (error: EyrieError) => object,
): void {
  const close = (socket: Duplex, error: EyrieError) => {
    const headers = new Headers({ 'Content-Type': 'application/json' })
    writeFinalResponse(socket, error.status, headers, Buffer.from(JSON.stringify(bodyOf(error))))
  }
  server.on('clientError', (fault, socket) => {
    const error = inWords(fault)
    if (error && socket.writable && !isHalfAnswered(socket)) close(socket, error)
    else socket.destroy()
  })
  sockets.on('wsClientError', ({ message }, socket) => close(socket, new EyrieError('syntax', message)))
  const accept: typeof fetch = (request, bindings) => {
    const { httpVersion, headers } = bindings.incoming
    if (httpVersion === '1.1' && headers.host === undefined) throw new RequestError('Missing host header')
    return fetch(request, bindings)
  }
  const errorHandler = (fault: unknown) => {
    const error =
      fault instanceof RequestError ? noRequest(fault) : new EyrieError('internal', 'the service failed')
    return Response.json(bodyOf(error), { status: error.status })
  }
  server.removeAllListeners('request').on('request', getRequestListener(accept, { hostname, errorHandler }))
  // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

const noRequest = ({ message }: Error) => new EyrieError('syntax', `this is no HTTP request: ${message}`)

/** Undefined where the connection itself is lost, and nobody is left to be told. */
function inWords(fault: NodeJS.ErrnoException): EyrieError | undefined {
  const { code = '' } = fault
  if (code === 'HPE_HEADER_OVERFLOW')
    return new EyrieError('size', `all headers together may have ${maxHeaderSize} bytes: send fewer`, {
      status: 431,
    })
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new EyrieError('size', 'the extensions of a chunk are too large: send none')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new EyrieError('syntax', 'the request did not come whole in time: send it faster', { status: 408 })
  return code.startsWith('HPE_') ? noRequest(fault) : undefined
}

/** More would be taken for a part of the answer under way, which Node keeps where its own handler looks for it. */
const isHalfAnswered = (socket: Duplex & { _httpMessage?: ServerResponse | null }) =>
  socket._httpMessage?.headersSent === true

/**
 * Answers an upgrade that is refused as the app says, body included: the server itself would send the status alone. An
 * answer with a body or an error's status is a refusal; that of an accepted WebSocket is empty.
 */
export function withUpgradeRejections({ fetch }: Pick<Hono, 'fetch'>) {
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
  if (socket.destroyed) return
  const closed = once(socket, 'close')
  writeFinalResponse(socket, response.status, new Headers(response.headers), body)
  await closed
}

/** Writes an answer on a connection of which the server lets go, and closes it. Not to be called on one that is half answered. */
export function writeFinalResponse(socket: Duplex, status: number, headers: Headers, body: Uint8Array): void {
  headers.set('Connection', 'close')
  headers.set('Content-Length', String(body.length))
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]), () => socket.destroy())
}
