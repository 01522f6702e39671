import { once } from 'node:events'
import { maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { EyrieError } from '@eyrie/contract/errors'
import {
  getRequestListener,
  type Http2Bindings,
  type HttpBindings,
  RequestError,
} from '@hono/node-server'
import type { Hono } from 'hono'
import type { WebSocketServer } from 'ws'

// Error responses for requests that fail before or outside the Hono app: malformed HTTP,
// requests without `Host` and rejected WebSocket handshakes. By default Node, ws and Hono's
// adapter respond to such requests without a body. The functions in this file send the same JSON
// error body as the app.

/** A Node server, and the WebSocket server and the app that handle its requests. */
interface HttpServer {
  server: Server
  sockets: WebSocketServer
  fetch: Parameters<typeof getRequestListener>[0]
  /** Host name of requests without a `Host` header, which HTTP/1.0 allows. */
  hostname: string
}

/** Creates the JSON body of an error response. */
type ToBody = (error: EyrieError) => object

/** Sends error bodies for malformed requests and malformed WebSocket handshakes on a server. */
export function handleProtocolErrors(
  { server, sockets, fetch, hostname }: HttpServer,
  toBody: ToBody,
): void {
  server.on('clientError', (cause: NodeJS.ErrnoException, socket) => {
    const error = toClientError(cause)
    if (error && socket.writable && !hasSentHeaders(socket)) writeError(socket, error, toBody)
    else socket.destroy()
  })
  sockets.on('wsClientError', ({ message }, socket) =>
    writeError(socket, new EyrieError('syntax', message), toBody),
  )

  // Replaces the adapter's listener, which responds to errors without a body.
  const errorHandler = createErrorHandler(toBody)
  const requestListener = getRequestListener(requireHost(fetch), { hostname, errorHandler })
  server.removeAllListeners('request')
  server.on('request', requestListener)

  // A server may ignore expectations that it does not support (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/**
 * Sends the response of the app to a rejected WebSocket upgrade completely, with headers and body.
 * The adapter would send only the status.
 */
export function withUpgradeRejections({ fetch }: Pick<Hono, 'fetch'>) {
  return async (request: Request, bindings: HttpBindings | Http2Bindings): Promise<Response> => {
    const response = await fetch(request, bindings)
    // The adapter passes a Node response (`outgoing`) only for ordinary requests. After an upgrade
    // there is only a socket.
    const isUpgrade = !bindings.outgoing
    // The response to an accepted upgrade is empty.
    const isRejection = response.status >= 400 || response.body !== null
    if (isUpgrade && isRejection) await rejectUpgrade(bindings.incoming.socket, response)
    return response
  }
}

/** Rejects HTTP/1.1 requests without the `Host` header, as RFC 9112, section 3.2 requires. */
function requireHost(fetch: HttpServer['fetch']): HttpServer['fetch'] {
  return (request, bindings) => {
    const { httpVersion, headers } = bindings.incoming
    const isHostMissing = httpVersion === '1.1' && headers.host === undefined
    // This is the adapter's own message. Since the adapter has a default host name, it does not
    // make this check itself.
    if (isHostMissing) throw new RequestError('Missing host header')
    return fetch(request, bindings)
  }
}

/** Creates the adapter's handler of errors that the app does not handle. */
function createErrorHandler(toBody: ToBody) {
  return (cause: unknown): Response => {
    const isMalformedRequest = cause instanceof RequestError
    const error = isMalformedRequest
      ? createMalformedRequestError(cause)
      : new EyrieError('internal', 'the service failed: see its log')
    return Response.json(toBody(error), { status: error.status })
  }
}

/**
 * Converts an error of Node's HTTP parser. Returns undefined if the connection itself has failed.
 */
function toClientError(cause: NodeJS.ErrnoException): EyrieError | undefined {
  const { code = '' } = cause
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new EyrieError('size', `the headers exceed ${maxHeaderSize} bytes: send fewer`, {
        status: 431,
      })
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new EyrieError('size', 'the chunk extensions are too large: omit them')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new EyrieError('syntax', 'the request was not complete in time: send it faster', {
        status: 408,
      })
    default:
      // Codes with this prefix come from llhttp, the HTTP parser of Node.
      return code.startsWith('HPE_') ? createMalformedRequestError(cause) : undefined
  }
}

const createMalformedRequestError = ({ message }: Error) =>
  new EyrieError('syntax', `malformed HTTP request: ${message}`)

/**
 * Whether a response is already being sent on the connection. An error response would
 * become part of its body. Node stores the current response in `_httpMessage` and reads it
 * for the same purpose.
 */
function hasSentHeaders(socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true
}

/**
 * Sends a response and resolves when the connection is closed, so that the adapter cannot
 * send a second response.
 */
async function rejectUpgrade(socket: Socket, response: Response): Promise<void> {
  const body = Buffer.from(await response.clone().arrayBuffer())
  if (socket.destroyed) return
  const closed = once(socket, 'close')
  writeResponse(socket, response.status, new Headers(response.headers), body)
  await closed
}

function writeError(socket: Duplex, error: EyrieError, toBody: ToBody): void {
  const headers = new Headers({ 'Content-Type': 'application/json' })
  writeResponse(socket, error.status, headers, Buffer.from(JSON.stringify(toBody(error))))
}

/** Writes a complete response to a raw socket and closes the connection. */
function writeResponse(socket: Duplex, status: number, headers: Headers, body: Uint8Array): void {
  headers.set('Connection', 'close')
  headers.set('Content-Length', String(body.length))
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`
  const headerLines = [...headers].map(([name, value]) => `${name}: ${value}`)
  const head = [statusLine, ...headerLines, '', ''].join('\r\n')
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), body]), () => socket.destroy())
}
