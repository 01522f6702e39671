import { trustedProxies } from '@eyrie/kit/client/trusted-proxies'
import { createErrorHandler } from '@eyrie/kit/http-errors'
import { listen } from '@eyrie/kit/listen'
import { createLog } from '@eyrie/kit/log'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { authenticate } from './authentication.ts'

const request = (tokens: string[], url: string, headers: Record<string, string> = {}) => {
  const app = new Hono()
  app.onError(createErrorHandler(createLog('test', 'silent')))
  app.get('*', authenticate(tokens), c => c.text('inside'))
  return app.request(url, { headers })
}

const ask = async (...args: Parameters<typeof request>) => (await request(...args)).status

describe('authentication with tokens', () => {
  test.each([
    ['Bearer second', 200],
    ['bearer second', 200],
    ['Bearer third', 401],
    ['Bearer second2', 401],
    ['Basic second', 401],
    ['', 401],
  ])('answers the header %j with %i', async (Authorization, status) => {
    expect(await ask(['first', 'second'], 'http://box/api/v3/about', { Authorization })).toBe(
      status,
    )
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ['is missing', {}, /^the request contains no token: send Authorization: Bearer <token>; /],
    ['is wrong', { Authorization: 'Bearer third' }, /^the engine does not accept this token; /],
  ])('tells a client whose token %s, and where to find one', async (_, headers, problem) => {
    const response = await request(['first'], 'http://box/api/v3/about', headers)
    const { reason } = (await response.json()) as { reason: string }
    expect(reason).toMatch(problem)
    expect(reason).toMatch(/EYRIE_ENGINE_TOKENS.* secrets\/engine-token/)
  })

  test('accepts a token in the query only for WebSockets, because queries appear in logs', async () => {
    const url = 'http://box/api/v3/output?access_token=first'
    expect(await ask(['first'], url)).toBe(401)
    expect(await ask(['first'], url, { Upgrade: 'websocket' })).toBe(200)
  })
})

describe('authentication without tokens', () => {
  test.each([
    ['http://127.0.0.1:8100/', {}, 200],
    ['http://localhost:8100/', {}, 200],
    ['http://[::1]:8100/', {}, 200],
    ['http://elsewhere.example/', {}, 401],
    ['http://127.0.0.1.elsewhere.example/', {}, 401],
    ['http://localhost:8100/', { Origin: 'http://localhost:8080' }, 200],
    ['http://localhost:8100/', { Origin: 'https://elsewhere.example' }, 401],
    ['http://localhost:8100/', { Origin: 'null' }, 401],
  ])('answers %s with %j by %i', async (url, headers, status) => {
    expect(await ask([], url, headers)).toBe(status)
  })

  test('rejects clients of a trusted proxy on the same machine', async () => {
    const app = new Hono()
    app.onError(createErrorHandler(createLog('test', 'silent')))
    app.get('*', authenticate([]), c => c.text('inside'))
    const options = { trustedProxies: trustedProxies.parse('127.0.0.1') }
    const server = await listen({ app, health: () => ({ ok: true }) }, '127.0.0.1', 0, options)
    onTestFinished(() => server.close())
    const url = `http://127.0.0.1:${server.port}/api/v3/about`
    expect((await fetch(url)).status).toBe(200)
    const headers = { 'X-Forwarded-For': '127.0.0.1' }
    expect((await fetch(url, { headers })).status).toBe(401)
  })
})
