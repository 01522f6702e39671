import { once } from 'node:events'
import { upgradeWebSocket } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { listen } from './run.ts'

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
