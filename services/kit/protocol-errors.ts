import { once } from 'node:events'
import { maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { EyrieError } from '@eyrie/contract/errors'
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WebSocketServer } from 'ws'

/** Errors below the app: Node, Hono's adapter and ws would answer them without a body. */

interface HttpServer {
  server: Server
  sockets: WebSocketServer
  fetch: Parameters<typeof getRequestListener>[0]
  /** Replaces the missing Host header of HTTP/1.0 requests. */
  hostname: string
}

/** Answers malformed requests and rejected WebSocket handshakes with an error body. */
export function handleProtocolErrors(
  { server, sockets, fetch, hostname }: HttpServer,
  toBody: (error: EyrieError) => object,
): void {
  const reject = (socket: Duplex, error: EyrieError) => {
    const headers = new Headers({ 'Content-Type': 'application/json' })
    writeFinalResponse(socket, error.status, headers, Buffer.from(JSON.stringify(toBody(error))))
  }
  server.on('clientError', (cause, socket) => {
    const error = toClientError(cause)
    if (error && socket.writable && !hasSentHeaders(socket)) reject(socket, error)
    else socket.destroy()
  })
  sockets.on('wsClientError', ({ message }, socket) => reject(socket, new EyrieError('syntax', message)))
  const fetchWithHost: typeof fetch = (request, bindings) => {
    const { httpVersion, headers } = bindings.incoming
    if (httpVersion === '1.1' && headers.host === undefined) throw new RequestError('Missing host header')
    return fetch(request, bindings)
  }
  const errorHandler = (cause: unknown) => {
    const error =
      cause instanceof RequestError
        ? createMalformedRequestError(cause)
        : new EyrieError('internal', 'the service failed: see its log')
    return Response.json(toBody(error), { status: error.status })
  }
  server
    .removeAllListeners('request')
    .on('request', getRequestListener(fetchWithHost, { hostname, errorHandler }))
  // Unknown expectations may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

const createMalformedRequestError = ({ message }: Error) =>
  new EyrieError('syntax', `malformed HTTP request: ${message}`)

/** Undefined if the connection is lost. */
function toClientError(cause: NodeJS.ErrnoException): EyrieError | undefined {
  const { code = '' } = cause
  if (code === 'HPE_HEADER_OVERFLOW')
    return new EyrieError('size', `the headers exceed ${maxHeaderSize} bytes: send fewer`, { status: 431 })
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new EyrieError('size', 'the chunk extensions are too large: omit them')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new EyrieError('syntax', 'the request was not complete in time: send it faster', { status: 408 })
  return code.startsWith('HPE_') ? createMalformedRequestError(cause) : undefined
}

/**
 * Whether a response has been started on the connection: an error would become part of its body. Node stores the
 * response in this field for its own error handler.
 */
const hasSentHeaders = (socket: Duplex & { _httpMessage?: ServerResponse | null }) =>
  socket._httpMessage?.headersSent === true

/**
 * Sends the complete response of the app if it rejects an upgrade; the server would only send the status. A response
 * with a body or an error status is a rejection, that of an accepted WebSocket is empty.
 */
export function withUpgradeRejections({ fetch }: Pick<Hono, 'fetch'>) {
  return async (request: Request, bindings: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await fetch(request, bindings)
    const isUpgrade = !bindings.outgoing
    if (isUpgrade && (response.status >= 400 || response.body))
      await rejectUpgrade(bindings.incoming.socket, response)
    return response
  }
}

/** Resolves when the connection is closed, so that the server does not send a second response. */
async function rejectUpgrade(socket: Socket, response: Response): Promise<void> {
  const body = Buffer.from(await response.clone().arrayBuffer())
  if (socket.destroyed) return
  const closed = once(socket, 'close')
  writeFinalResponse(socket, response.status, new Headers(response.headers), body)
  await closed
}

/** Writes a response to a raw socket and closes it. No response may have been started on the socket. */
function writeFinalResponse(socket: Duplex, status: number, headers: Headers, body: Uint8Array): void {
  headers.set('Connection', 'close')
  headers.set('Content-Length', String(body.length))
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]), () => socket.destroy())
}
