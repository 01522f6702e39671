import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createUpstream } from './upstream-client.ts'
import { relayWebSocket } from './websocket-relay.ts'

/** Opens both ends of a relay. Each test defines the behaviour of the upstream service. */
describe('relayWebSocket', () => {
  let upstreams: WebSocketServer
  let relays: WebSocketServer
  let client: WebSocket

  const listen = async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    return server
  }
  const addressOf = (server: WebSocketServer) =>
    `127.0.0.1:${(server.address() as AddressInfo).port}`

  beforeEach(async () => {
    upstreams = await listen()
    relays = await listen()
    const upstream = createUpstream({
      name: 'media',
      url: `http://${addressOf(upstreams)}`,
      token: 'internal',
    })
    relays.on('connection', socket => relayWebSocket(upstream.connect('/streams/1/ws'), socket))
  })
  afterEach(() => {
    for (const server of [upstreams, relays]) {
      for (const socket of server.clients) socket.terminate()
      server.close()
    }
  })

  const open = async () => {
    client = new WebSocket(`ws://${addressOf(relays)}`)
    const [[socket, request]] = await Promise.all([
      once(upstreams, 'connection'),
      once(client, 'open'),
    ])
    return { socket: socket as WebSocket, request }
  }

  it('sends the token that the client does not have', async () => {
    const { request } = await open()
    expect(request.headers.authorization).toBe('Bearer internal')
    expect(request.url).toBe('/streams/1/ws')
  })

  it('forwards text and binary messages, including the first one', async () => {
    upstreams.on('connection', socket => {
      socket.send('{"codecs":"avc1.42c01e"}')
      socket.send(Buffer.from([1, 2, 3]))
    })
    const received: unknown[] = []
    const opened = open()
    client.on('message', (data, binary) => received.push(binary ? data : String(data)))
    await opened
    await expect.poll(() => received).toEqual(['{"codecs":"avc1.42c01e"}', Buffer.from([1, 2, 3])])
  })

  it('reads no faster than the client and loses no message', async () => {
    const MESSAGES = 400
    const { socket } = await open()
    client.pause()
    for (let n = 0; n < MESSAGES; n++) socket.send(Buffer.alloc(100_000, n % 251))
    const waiting = () => [...relays.clients][0]!.bufferedAmount
    await expect.poll(waiting).toBeGreaterThan(500_000)
    // Without back-pressure, all 40 MB would soon be buffered here instead of at the sender.
    await expect.poll(() => socket.bufferedAmount).toBeGreaterThan(10_000_000)
    expect(waiting()).toBeLessThan(2_000_000)

    let received = 0
    client.on('message', data => {
      expect((data as Buffer)[0]).toBe(received++ % 251)
    })
    client.resume()
    await expect.poll(() => received).toBe(MESSAGES)
  })

  it('closes upstream when the client disconnects', async () => {
    const { socket } = await open()
    client.close()
    await once(socket, 'close')
  })

  it('closes the client when upstream closes', async () => {
    const { socket } = await open()
    socket.close(1001, 'media is restarting')
    expect(await closing()).toEqual([1001, 'media is restarting'])
  })

  it('reports a crash of upstream', async () => {
    const { socket } = await open()
    socket.terminate()
    expect(await closing()).toEqual([1012, ''])
  })

  it('reports why upstream is unreachable', async () => {
    upstreams.close()
    client = new WebSocket(`ws://${addressOf(relays)}`)
    expect(await closing()).toEqual([1013, 'media is not reachable'])
  })

  it('truncates a long reason at the end of a character', async () => {
    relays.removeAllListeners('connection')
    relays.on('connection', socket =>
      relayWebSocket(Promise.reject(new Error('€'.repeat(100))), socket),
    )
    client = new WebSocket(`ws://${addressOf(relays)}`)
    expect(await closing()).toEqual([1013, '€'.repeat(41)])
  })

  const closing = async () => {
    const [code, reason] = await once(client, 'close')
    return [code, String(reason)]
  }
})
