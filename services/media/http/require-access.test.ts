import { createErrorHandler, createLog, listen, trustedProxies } from '@eyrie/kit'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { requireAccess } from './require-access.ts'

/** Requests a page from this address, with no token configured, and returns the status. */
async function statusFor(remoteAddress: string | undefined): Promise<number> {
  const app = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
  app.get('/', requireAccess(undefined), c => c.text('welcome'))
  return (await app.request('/', {}, { incoming: { socket: { remoteAddress } } })).status
}

describe('access with a configured token', () => {
  it.each<[string, string, Record<string, string>, RegExp]>([
    ['no token', '/', {}, /^the request contains no token: send /],
    [
      'a wrong token',
      '/',
      { Authorization: 'Bearer wrong' },
      /^the media service does not accept this token: /,
    ],
    [
      'a wrong ticket',
      '/?ticket=wrong',
      {},
      /^this ticket has expired or belongs to another stream: /,
    ],
  ])('is denied with the reason for a request with %s', async (_, path, headers, reason) => {
    const app = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
    app.get('/', requireAccess('right'), c => c.text('welcome'))
    const env = { incoming: { socket: { remoteAddress: '127.0.0.1' } } }
    const response = await app.request(path, { headers }, env)
    expect([response.status, await response.json()]).toEqual([
      401,
      { code: 'auth', reason: expect.stringMatching(reason) },
    ])
  })
})

describe('access without a configured token', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])(
    'is granted to the loopback address %s',
    async address => {
      expect(await statusFor(address)).toBe(200)
    },
  )

  it.each(['192.168.0.9', '::ffff:192.168.0.9', 'fe80::1', '::', '1127.0.0.1', undefined])(
    'is denied to %s',
    async address => {
      expect(await statusFor(address)).toBe(401)
    },
  )

  it('is denied to clients of a trusted proxy on the same machine', async () => {
    const app = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
    app.get('/', requireAccess(undefined), c => c.text('welcome'))
    const options = { trustedProxies: trustedProxies.parse('127.0.0.1') }
    const server = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0, options)
    onTestFinished(() => server.close())
    const url = `http://127.0.0.1:${server.port}/`
    expect((await fetch(url)).status).toBe(200)
    expect((await fetch(url, { headers: { 'X-Forwarded-For': '127.0.0.1' } })).status).toBe(401)
  })
})
