import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect, Server, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { upgradeWebSocket } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createCertificate } from '../../test/fixtures/network/certificate.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { trustedProxies } from './client/trusted-proxies.ts'
import { limitConnections } from './connection-limit.ts'
import { createErrorHandler } from './http-errors.ts'
import { listen } from './listen.ts'
import { createLog, type Log } from './log.ts'
import { limitBodySize } from './request-body.ts'

function service(ok: boolean) {
  const app = new Hono().onError(createErrorHandler(createLog('test', 'silent')))
  app.get('/hello', c => c.text('hello'))
  app.get(
    '/echo',
    upgradeWebSocket(() => ({ onMessage: (event, socket) => socket.send(String(event.data)) })),
  )
  return { app, health: () => ({ ok, why: 'because' }) }
}

it('serves an app, its health and its WebSockets on a free port', async () => {
  const server = await listen(service(true), '127.0.0.1', 0)
  const url = `http://127.0.0.1:${server.port}`
  expect(await (await fetch(`${url}/hello`)).text()).toBe('hello')
  const health = await fetch(`${url}/health`)
  expect([health.status, await health.json()]).toEqual([
    200,
    { ok: true, alarms: [], why: 'because' },
  ])

  const wrong = await fetch(`${url}/health`, { method: 'POST' })
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD'])

  const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`)
  await once(socket, 'open')
  socket.send('anybody?')
  const [data] = await once(socket, 'message')
  expect(String(data)).toBe('anybody?')

  const closed = once(socket, 'close')
  await server.close()
  await closed
  await expect(fetch(`${url}/hello`)).rejects.toThrow()
})

it('rejects an upgrade with the complete response of the app and ignores other protocols', async () => {
  const { app, health } = service(true)
  app.get('/closed', c =>
    c.json({ code: 'auth', reason: 'who are you, Jürgen?' }, 401, { 'X-Why': 'token' }),
  )
  const server = await listen({ app, health }, '127.0.0.1', 0)
  const requestUpgrade = (path: string, protocol = 'websocket') => {
    const socket = connect(server.port, '127.0.0.1')
    const head = ['Host: 127.0.0.1', 'Connection: Upgrade', `Upgrade: ${protocol}`]
    const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    socket.write(`GET ${path} HTTP/1.1\r\n${[...head, ...key].join('\r\n')}\r\n\r\n`)
    if (protocol !== 'websocket') socket.end()
    return text(socket)
  }
  const body = '{"code":"auth","reason":"who are you, Jürgen?"}'
  const refused = await requestUpgrade('/closed')
  expect(refused).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/)
  expect(refused).toMatch(/\r\nx-why: token\r\n/)
  expect(refused).toMatch(new RegExp(`\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`))
  expect(refused.split('\r\n\r\n')[1]).toBe(body)
  expect(await requestUpgrade('/nothing')).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/)
  expect(await requestUpgrade('/hello')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nhello$/s)
  expect(await requestUpgrade('/hello', 'h2c')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*hello/s)
  await server.close()
})

it('answers /health with 503 while the service is not healthy', async () => {
  const server = await listen(service(false), '127.0.0.1', 0)
  expect((await fetch(`http://127.0.0.1:${server.port}/health`)).status).toBe(503)
  await server.close()
})

it('rejects if the port is in use', async () => {
  const server = await listen(service(true), '127.0.0.1', 0)
  await expect(listen(service(true), '127.0.0.1', server.port)).rejects.toThrow('EADDRINUSE')
  await server.close()
})

it('serves only HTTPS if it has a certificate', async () => {
  const files = createCertificate(createTemporaryFolder())
  const tls = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
  const server = await listen(service(true), '127.0.0.1', 0, { tls })
  const [response] = await once(
    get(`https://127.0.0.1:${server.port}/hello`, { ca: tls.cert }),
    'response',
  )
  expect(response.statusCode).toBe(200)
  response.resume()
  await expect(fetch(`http://127.0.0.1:${server.port}/hello`)).rejects.toThrow()

  const socket = new WebSocket(`wss://127.0.0.1:${server.port}/echo`, { ca: tls.cert })
  await once(socket, 'open')
  await server.close()
})

it('closes new connections of a client that has too many, and accepts others when it closes some', async () => {
  const warnings: unknown[] = []
  const log = { warn: (fields: unknown) => void warnings.push(fields) } as Pick<Log, 'warn'>
  const limits = { perClient: 1, shared: 4 }
  const options = { limits, log, headersTimeoutMs: 120_000 }
  const server = await listen(service(true), '127.0.0.1', 0, options)
  const open = async () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    socket.write('GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n')
    await once(socket, 'connect')
    return socket
  }
  const admitted = [await open(), await open(), await open(), await open()]
  for (let i = 0; i < 3; i++) await once((await open()).resume(), 'close')
  expect(warnings).toEqual([{ client: 'this machine' }])

  for (const socket of admitted) {
    socket.write('Connection: close\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK.*hello$/s)
  }
  // The server notices a moment after the client that a connection is closed.
  const request = () =>
    fetch(`http://127.0.0.1:${server.port}/hello`).then(({ status }) => status, String)
  await expect.poll(request).toBe(200)
  await server.close()
})

it('allows a trusted proxy as many connections as this machine', () => {
  const limits = { perClient: 1, shared: 3 }
  const server = new Server()
  const limited: string[] = []
  limitConnections(server, limits, trustedProxies.parse('192.0.2.1'), client =>
    limited.push(client),
  )
  const connectFrom = (remoteAddress: string) => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
    server.emit('connection', socket)
    return socket.destroyed
  }
  expect([1, 2, 3, 4].map(() => connectFrom('192.0.2.1'))).toEqual([false, false, false, true])
  expect([1, 2].map(() => connectFrom('192.0.2.2'))).toEqual([false, true])
  expect(limited).toEqual(['192.0.2.1', '192.0.2.2'])
})

it('disconnects clients that do not complete the handshake of TLS', async () => {
  const files = createCertificate(createTemporaryFolder())
  const tls = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
  const server = await listen(service(true), '127.0.0.1', 0, { tls, headersTimeoutMs: 200 })
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  await once(socket.resume(), 'close')
  await server.close()
})

it('answers a body that stalls while it is read with 408', async () => {
  const { app, health } = service(true)
  app.post('/upload', limitBodySize(1 << 20), async c => c.text(await c.req.text()))
  const server = await listen({ app, health }, '127.0.0.1', 0, { headersTimeoutMs: 200 })
  for (const body of [
    'Content-Length: 1000\r\n\r\n{',
    'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
  ]) {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`POST /upload HTTP/1.1\r\nHost: 127.0.0.1\r\n${body}`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 .*the request was not complete in time/s)
  }
  await server.close()
})

it('disconnects clients that send requests too slowly while serving others', async () => {
  const server = await listen(service(true), '127.0.0.1', 0, { headersTimeoutMs: 200 })
  const incomplete = [
    'GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ',
    'POST /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{',
  ]
  const slow = Array.from({ length: 100 }, () =>
    connect(server.port, '127.0.0.1')
      .on('error', () => {})
      .resume(),
  )
  const disconnected = slow.map(socket => once(socket, 'close'))
  for (const [index, socket] of slow.entries()) socket.write(incomplete[index % 2]!)
  expect((await fetch(`http://127.0.0.1:${server.port}/hello`)).status).toBe(200)
  await Promise.all(disconnected)
  await server.close()
})
