import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { errorBody, hello, outputMessage } from '@eyrie/contract'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { type CallEngine, startEngine } from '../../../test/fixtures/engine/engine.ts'

describe('output WebSocket', () => {
  let data: string
  let engine: Service
  let call: CallEngine
  let server: ListeningServer

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'eyrie-output-api-'))
  })
  afterEach(async () => {
    await server.close()
    await engine.stop()
    await rm(data, { recursive: true })
  })

  const start = async (variables?: NodeJS.ProcessEnv) => {
    const started = await startEngine(data, variables)
    engine = started.engine
    call = started.call
    server = await listen(engine, '127.0.0.1', 0)
  }

  /** The first message, or the HTTP status if the connection is rejected. */
  const connect = async (query = '', options: ClientOptions = {}) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/v3/output${query}`, options)
    socket.on('error', () => {})
    const answer = await Promise.race([
      once(socket, 'message').then(([text]) => JSON.parse(String(text))),
      once(socket, 'unexpected-response').then(([, response]) => response.statusCode),
    ])
    socket.terminate()
    return answer
  }

  test('reports the state of all channels in its first messages', async () => {
    await start()
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/v3/output?since=1&kinds=state`)
    const received: unknown[] = []
    socket.on('message', text => received.push(JSON.parse(String(text))))
    await once(socket, 'open')
    await call('POST', '/sources', { type: 'video', address: 'rtsp://127.0.0.1:9/' })
    await call('POST', '/pipelines', { elements: [{ name: 'object-tracking' }], sources: [1] })
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(1))
    expect(hello.safeParse(received[0]).error).toBeUndefined()
    for (const message of received.slice(1)) {
      expect(outputMessage.safeParse(message).error).toBeUndefined()
    }
    socket.terminate()
  })

  test('is rejected for an invalid query', async () => {
    await start()
    expect(await connect('?kinds=event,all')).toBe(400)
    expect(await connect('?channels=1,2&kinds=event')).toMatchObject({ kind: 'hello' })
  })

  test('reports the reason for a rejected connection', async () => {
    await start({ EYRIE_ENGINE_TOKENS: 'first' })
    const head =
      'Host: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13'
    const refusals = [
      ['output', 401, 'auth', /the request contains no token/],
      ['output?access_token=first&kinds=event,all', 400, 'syntax', /^\?\/kinds\/1: /],
      ['output?access_token=first&channels=-1', 400, 'syntax', /^\?\/channels\/0: /],
      ['output?access_token=first&since=yesterday', 400, 'syntax', /^\?\/since: /],
      ['output?access_token=first&consumer=a/b', 400, 'syntax', /^\?\/consumer: /],
      ['outputs?access_token=first', 404, 'id', /there is nothing at/],
    ] as const
    for (const [path, status, code, reason] of refusals) {
      const socket = connectSocket(server.port, '127.0.0.1')
      socket.write(
        `GET /api/v3/${path} HTTP/1.1\r\n${head}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      )
      const [answer = '', body = ''] = (await text(socket)).split('\r\n\r\n')
      expect(answer).toMatch(
        new RegExp(`^HTTP/1\\.1 ${status} .*\r\ncontent-type: application/json`, 'is'),
      )
      expect(errorBody.parse(JSON.parse(body))).toMatchObject({
        code,
        reason: expect.stringMatching(reason),
      })
    }
  })

  test('requires a token in the header or in the query', async () => {
    await start({ EYRIE_ENGINE_TOKENS: 'first, second', EYRIE_INTERNAL_TOKEN: 'internal' })
    expect(await connect()).toBe(401)
    expect(await connect('?access_token=wrong')).toBe(401)
    expect(await connect('?access_token=second')).toMatchObject({ kind: 'hello' })
    expect(await connect('', { headers: { Authorization: 'Bearer internal' } })).toBe(401)
    for (const token of ['first', 'second']) {
      expect(await connect('', { headers: { Authorization: `Bearer ${token}` } })).toMatchObject({
        kind: 'hello',
      })
    }
  })

  test('is closed to pages of other hosts if no token is configured', async () => {
    await start()
    expect(await connect('', { origin: 'https://elsewhere.example' })).toBe(401)
    expect(await connect('', { headers: { Host: 'elsewhere.example' } })).toBe(401)
    expect(await connect('', { origin: 'http://localhost:8080' })).toMatchObject({ kind: 'hello' })
  })
})
