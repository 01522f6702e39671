import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createErrorHandler } from './http-errors.ts'
import { type ListeningServer, listen } from './listen.ts'
import { createLog } from './log.ts'
import { handleUnmatchedRequests } from './mount-routes.ts'
import { serveWebSocket } from './serve-web-socket.ts'

let server: ListeningServer
let finishBody: () => void

beforeAll(async () => {
  const app = new Hono().onError(createErrorHandler(createLog('test', 'silent')))
  app.get('/hello', c => c.text('hello'))
  app.post('/hello', async c => c.text(await c.req.text()))
  app.get('/half', c =>
    c.body(
      new ReadableStream({
        async pull(controller) {
          controller.enqueue(Buffer.from('half'))
          await new Promise<void>(resolve => {
            finishBody = resolve
          })
          controller.close()
        },
      }),
    ),
  )
  app.get(
    '/socket',
    serveWebSocket(
      c => c.req.path,
      () => ({}),
    ),
  )
  handleUnmatchedRequests(app)
  server = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0, {
    headersTimeoutMs: 300,
  })
})
afterAll(() => server.close())

/**
 * Sends raw bytes and resolves to everything that the server writes until it closes the connection.
 */
async function exchange(sent: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1')
  socket.write(sent)
  return text(socket)
}

const request = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`
const host = 'Host: 127.0.0.1'
const close = 'Connection: close'
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket']
const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
const version = 'Sec-WebSocket-Version: 13'

it.each([
  [
    'something other than HTTP',
    'anybody there?\r\n\r\n',
    400,
    'syntax',
    'malformed HTTP request: Parse Error: ',
  ],
  [
    'a header without a name',
    request('GET /hello', host, ': 7'),
    400,
    'syntax',
    'malformed HTTP request',
  ],
  [
    'a request without Host',
    request('GET /hello', close),
    400,
    'syntax',
    'malformed HTTP request: Missing host header',
  ],
  [
    'an invalid Host',
    request('GET /hello', 'Host: a b', close),
    400,
    'syntax',
    'malformed HTTP request',
  ],
  [
    'headers that are too large',
    request('GET /hello', host, `X: ${'x'.repeat(20_000)}`),
    431,
    'size',
    'the headers exceed 16384 bytes: send fewer',
  ],
  [
    'an invalid chunk',
    request('POST /hello', host, 'Transfer-Encoding: chunked').concat('seven\r\n'),
    400,
    'syntax',
    'malformed HTTP request: Parse Error: Invalid character in chunk size',
  ],
  [
    'a body that never arrives',
    request('POST /hello', host, 'Content-Length: 9').concat('{'),
    408,
    'syntax',
    'the request was not complete in time: send it faster',
  ],
  [
    'a WebSocket handshake with another method',
    request('POST /socket', host, 'Connection: Upgrade, close', upgrade[1]!, key, version),
    405,
    'method',
    '/socket has no POST',
  ],
  [
    'a WebSocket handshake without a key',
    request('GET /socket', host, ...upgrade, version),
    400,
    'syntax',
    '/socket is a WebSocket: Sec-WebSocket-Key must be',
  ],
  [
    'a WebSocket handshake of another version',
    request('GET /socket', host, ...upgrade, key, 'Sec-WebSocket-Version: 7'),
    400,
    'syntax',
    '/socket is a WebSocket: Sec-WebSocket-Version must be 13',
  ],
  [
    'a WebSocket handshake with invalid protocols',
    request('GET /socket', host, ...upgrade, key, version, 'Sec-WebSocket-Protocol: a,,'),
    400,
    'syntax',
    'Invalid Sec-WebSocket-Protocol header',
  ],
])('answers %s with an error body', async (_, sent, status, code, reason) => {
  const [head, body] = (await exchange(sent)).split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toMatch(/\r\nconnection: close(\r\n|$)/i)
  expect(head).toMatch(/\r\ncontent-type: application\/json/i)
  expect(JSON.parse(body!)).toEqual({ code, reason: expect.stringContaining(reason) })
})

it('closes the connection without an error body if a response has been started', async () => {
  const socket = connect(server.port, '127.0.0.1')
  socket.write(request('GET /half', host))
  const [start] = await once(socket, 'data')
  expect(String(start)).toContain('HTTP/1.1 200 OK')
  socket.write('anybody there?\r\n\r\n')
  expect(await text(socket)).not.toContain('HTTP/1.1')
  finishBody()
})

it('accepts HTTP/1.0 requests without Host and ignores unknown expectations', async () => {
  expect(await exchange('GET /hello HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK.*hello$/s)
  expect(await exchange(request('GET /hello', host, close, 'Expect: rain'))).toMatch(
    /^HTTP\/1\.1 200 .*hello/s,
  )
})

it('continues to serve after a client disconnects before the response', async () => {
  const socket = connect(server.port, '127.0.0.1')
  socket.write('POST /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{')
  await once(socket, 'connect')
  socket.resetAndDestroy()
  expect(await exchange(request('GET /hello', host, close))).toContain('hello')
})
