import { maxHeaderSize, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { EyrieError } from '@eyrie/contract/errors'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { WebSocketServer } from 'ws'
import { lastAnswer } from './last-answer.ts'

interface Readers {
  server: Server
  sockets: WebSocketServer
  /** Takes what can be read, with `hostname` where a request of HTTP/1.0 names no host. */
  fetch: Parameters<typeof getRequestListener>[0]
  hostname: string
}

/** Refuses in words what Node, its adaptor or ws cannot read, and would answer without a word. */
export function refuseUnreadable(
  { server, sockets, fetch, hostname }: Readers,
  bodyOf: (error: EyrieError) => object,
): void {
  const close = (socket: Duplex, error: EyrieError) => {
    const headers = new Headers({ 'Content-Type': 'application/json' })
    lastAnswer(socket, error.status, headers, Buffer.from(JSON.stringify(bodyOf(error))))
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
