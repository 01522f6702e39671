import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect } from 'node:net'
import { upgradeWebSocket } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { makeCertificate } from '../../test/fixtures/certificate.ts'
import { temporaryFolder } from '../../test/fixtures/temporary.ts'
import { listen } from './listen.ts'

function service(ok: boolean) {
  const app = new Hono()
  app.get('/hello', c => c.text('hello'))
  app.get(
    '/echo',
    upgradeWebSocket(() => ({ onMessage: (event, socket) => socket.send(String(event.data)) })),
  )
  return { app, health: () => ({ ok, why: 'because' }) }
}

it('serves an app, its health and its sockets on a free port', async () => {
  const server = await listen(service(true), '127.0.0.1', 0)
  const url = `http://127.0.0.1:${server.port}`
  expect(await (await fetch(`${url}/hello`)).text()).toBe('hello')
  const health = await fetch(`${url}/health`)
  expect([health.status, await health.json()]).toEqual([200, { ok: true, why: 'because' }])

  const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`)
  await once(socket, 'open')
  socket.send('anybody?')
  const [data] = await once(socket, 'message')
  expect(String(data)).toBe('anybody?')

  const gone = once(socket, 'close')
  await server.close()
  await gone
  await expect(fetch(`${url}/hello`)).rejects.toThrow()
})

it('answers 503 while it is not healthy', async () => {
  const server = await listen(service(false), '127.0.0.1', 0)
  expect((await fetch(`http://127.0.0.1:${server.port}/health`)).status).toBe(503)
  await server.close()
})

it('rejects when the port is taken', async () => {
  const server = await listen(service(true), '127.0.0.1', 0)
  await expect(listen(service(true), '127.0.0.1', server.port)).rejects.toThrow('EADDRINUSE')
  await server.close()
})

it('speaks HTTPS with a certificate, and nothing else', async () => {
  const files = makeCertificate(temporaryFolder())
  const tls = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
  const server = await listen(service(true), '127.0.0.1', 0, { tls })
  const [response] = await once(get(`https://127.0.0.1:${server.port}/hello`, { ca: tls.cert }), 'response')
  expect(response.statusCode).toBe(200)
  response.resume()
  await expect(fetch(`http://127.0.0.1:${server.port}/hello`)).rejects.toThrow()

  const socket = new WebSocket(`wss://127.0.0.1:${server.port}/echo`, { ca: tls.cert })
  await once(socket, 'open')
  await server.close()
})

it('cuts off who sends a request too slowly, and serves the others meanwhile', async () => {
  const server = await listen(service(true), '127.0.0.1', 0, { patienceMs: 200 })
  const beginnings = [
    'GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ',
    'POST /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{',
  ]
  const slow = Array.from({ length: 100 }, () =>
    connect(server.port, '127.0.0.1')
      .on('error', () => {})
      .resume(),
  )
  const cut = slow.map(socket => once(socket, 'close'))
  for (const [index, socket] of slow.entries()) socket.write(beginnings[index % 2]!)
  expect((await fetch(`http://127.0.0.1:${server.port}/hello`)).status).toBe(200)
  await Promise.all(cut)
  await server.close()
})
