import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLog, type ListeningServer, listen, readEnvironment } from '@eyrie/kit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../../test/fixtures/free-ports.ts'
import { createManagement } from './management.ts'

/** An address that refuses connections, as that of a service that is down does. */
const nobodysAddress = async () => `http://127.0.0.1:${await freePort()}`

describe('management while engine and media are down', () => {
  let server: ListeningServer
  let origin: string

  beforeEach(async () => {
    const environment = readEnvironment({
      EYRIE_ENGINE_URL: await nobodysAddress(),
      EYRIE_MEDIA_URL: await nobodysAddress(),
      EYRIE_ENGINE_TOKENS: 'secret',
    })
    const log = createLog('management', 'error')
    server = await listen(createManagement({ environment, log }), '127.0.0.1', 0)
    origin = `http://127.0.0.1:${server.port}`
  })
  afterEach(() => server.close())

  it('is healthy itself', async () => {
    expect((await fetch(`${origin}/health`)).status).toBe(200)
  })

  it.each([
    ['/live/channels', 'engine'],
    ['/live/statistics', 'engine'],
    ['/live/streams/1/snapshot.jpg', 'media'],
  ])('answers %s by saying that %s is not reachable', async (path, service) => {
    const response = await fetch(origin + path)
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
  ])('closes %s with the reason', async (path, reason) => {
    const socket = new WebSocket(origin + path, { origin })
    const [code, text] = await once(socket, 'close')
    expect([code, String(text)]).toEqual([1013, reason])
  })

  it.each([
    ['a page of another site', '/live/output', { origin: 'http://evil.example' }, 403],
    ['another name of this machine', '/live/output', { headers: { host: 'evil.example' } }, 403],
    ['a stream that cannot be', '/live/streams/first/ws', {}, 404],
  ])('opens no WebSocket for %s', async (_, path, options, status) => {
    const socket = new WebSocket(origin + path, options)
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
  ])('answers %s %s with %i', async (method, path, status, allow) => {
    const { status: answered, headers } = await fetch(origin + path, { method })
    expect([answered, headers.get('allow')]).toEqual([status, allow])
  })

  it('refuses in its envelope what is no request', async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    socket.write('anybody there?\r\n\r\n')
    const [, body] = (await text(socket)).split('\r\n\r\n')
    const message = expect.stringContaining('malformed HTTP request')
    expect(JSON.parse(body!)).toEqual({ message, response: null, response_code: 400 })
  })

  it('says that nobody has signed in, and that nobody has to on the box itself', async () => {
    expect(await (await fetch(`${origin}/session`)).json()).toEqual({ open: true, user: null })
  })

  it('lets the console load nothing but its own files', async () => {
    const policy = (await fetch(origin)).headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
  })
})
