import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLog, type ListeningServer, listen, readEnvironment } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openLocalSession } from '../../test/fixtures/browser/local-session.ts'
import { findFreePort } from '../../test/fixtures/network/free-ports.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createManagement } from './management.ts'

/** An address that refuses connections, like that of a stopped service. */
const createUnusedUrl = async () => `http://127.0.0.1:${await findFreePort()}`

describe('management service while the engine and media services are down', () => {
  let server: ListeningServer
  let origin: string
  /** Headers of requests by a browser on the appliance that has opened a link. */
  let headers: { cookie: string }

  beforeEach(async () => {
    const environment = readEnvironment({
      EYRIE_ENGINE_URL: await createUnusedUrl(),
      EYRIE_MEDIA_URL: await createUnusedUrl(),
      EYRIE_ENGINE_TOKENS: 'secret',
      EYRIE_DATA: createTemporaryFolder(),
    })
    const log = createLog('management', 'error')
    server = await listen(createManagement({ environment, log }), '127.0.0.1', 0)
    origin = `http://127.0.0.1:${server.port}`
    headers = await openLocalSession({ consoleUrl: origin, data: environment.data })
  })
  afterEach(() => server.close())

  it('reports itself as healthy', async () => {
    expect((await fetch(`${origin}/health`)).status).toBe(200)
  })

  it.each([
    ['/live/channels', 'engine'],
    ['/live/statistics', 'engine'],
    ['/live/streams/1/snapshot.jpg', 'media'],
  ])('responds to %s with 503 and names %s as unreachable', async (path, service) => {
    const response = await fetch(origin + path, { headers })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await response.json()).toEqual({
      code: 'unavailable',
      reason: `${service} is not reachable`,
      value: { service },
    })
  })

  it.each([
    ['/live/output', 'engine is not reachable'],
    ['/live/streams/1/ws', 'media is not reachable'],
  ])('closes the WebSocket %s with the reason', async (path, reason) => {
    const socket = new WebSocket(origin + path, { origin, headers })
    const [code, text] = await once(socket, 'close')
    expect([code, String(text)]).toEqual([1013, reason])
  })

  it.each([
    [
      'from a cross-origin page',
      '/live/output',
      { headers: { origin: 'http://evil.example' } },
      403,
    ],
    ['to a foreign host name', '/live/output', { headers: { host: 'evil.example' } }, 403],
    ['to an invalid stream', '/live/streams/first/ws', { headers: {} }, 404],
  ])('rejects a WebSocket %s', async (_, path, options, status) => {
    const socket = new WebSocket(origin + path, {
      ...options,
      headers: { ...headers, ...options.headers },
    })
    const [error] = await once(socket, 'error')
    expect(error.message).toContain(String(status))
  })

  it.each([
    ['GET', '/live/output', 400, null],
    ['GET', '/live/streams/1/ws', 400, null],
    ['GET', '/live/streams/1/whep', 405, 'OPTIONS, POST'],
    ['PUT', '/live/streams/1/whep/session', 405, 'PATCH, DELETE'],
    ['POST', '/health', 405, 'GET, HEAD'],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['POST', '/docs', 405, 'GET, HEAD'],
    ['DELETE', '/api/v1/openapi.json', 405, 'GET, HEAD'],
  ])('responds to %s %s with %i', async (method, path, status, allow) => {
    const response = await fetch(origin + path, { method, headers })
    expect([response.status, response.headers.get('allow')]).toEqual([status, allow])
  })

  it('responds to a malformed request with an error envelope', async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    socket.write('anybody there?\r\n\r\n')
    const [, body] = (await text(socket)).split('\r\n\r\n')
    const message = expect.stringContaining('malformed HTTP request')
    expect(JSON.parse(body!)).toEqual({ message, response: null, response_code: 400 })
  })

  it('reports an open session without a user to a browser that has opened a link', async () => {
    const session = await fetch(`${origin}/session`, { headers })
    expect(await session.json()).toEqual({ open: true, user: null })
  })

  it('allows the console to load its own files only', async () => {
    const policy = (await fetch(origin)).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
  })
})
