import { createErrorHandler } from '@eyrie/kit/http-errors'
import { createLog } from '@eyrie/kit/log'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { authenticate } from './authentication.ts'

const ask = async (tokens: string[], url: string, headers: Record<string, string> = {}) => {
  const app = new Hono()
  app.onError(createErrorHandler(createLog('test', 'silent')))
  app.get('*', authenticate(tokens), c => c.text('inside'))
  return (await app.request(url, { headers })).status
}

describe('with tokens', () => {
  test.each([
    ['Bearer second', 200],
    ['bearer second', 200],
    ['Bearer third', 401],
    ['Bearer second2', 401],
    ['Basic second', 401],
    ['', 401],
  ])('%j is answered %i', async (Authorization, status) => {
    expect(await ask(['first', 'second'], 'http://box/api/v3/about', { Authorization })).toBe(status)
  })

  test('a token in the query counts on a WebSocket only, since queries end up in logs', async () => {
    const url = 'http://box/api/v3/output?access_token=first'
    expect(await ask(['first'], url)).toBe(401)
    expect(await ask(['first'], url, { Upgrade: 'websocket' })).toBe(200)
  })
})

describe('without tokens', () => {
  test.each([
    ['http://127.0.0.1:8100/', {}, 200],
    ['http://localhost:8100/', {}, 200],
    ['http://[::1]:8100/', {}, 200],
    ['http://elsewhere.example/', {}, 401],
    ['http://127.0.0.1.elsewhere.example/', {}, 401],
    ['http://localhost:8100/', { Origin: 'http://localhost:8080' }, 200],
    ['http://localhost:8100/', { Origin: 'https://elsewhere.example' }, 401],
    ['http://localhost:8100/', { Origin: 'null' }, 401],
  ])('%s with %j is answered %i', async (url, headers, status) => {
    expect(await ask([], url, headers)).toBe(status)
  })
})
