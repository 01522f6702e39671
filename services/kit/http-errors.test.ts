import { EyrieError } from '@eyrie/contract'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { createErrorHandler } from './http-errors.ts'
import { createLog } from './log.ts'

it.each([
  [
    'a known error with its reason',
    new EyrieError('id', 'no source 7', { value: { id: 7 } }),
    404,
    'no source 7',
  ],
  [
    'a full disk with unavailable',
    Object.assign(new Error('write'), { code: 'ENOSPC' }),
    503,
    'the disk is full',
  ],
  [
    'an unexpected error without its details',
    new Error('/etc/secret at line 3'),
    500,
    'the service failed',
  ],
])('answers %s', async (_, error, status, reason) => {
  const app = new Hono()
  app.onError(createErrorHandler(createLog('test', 'silent')))
  app.get('/', () => {
    throw error
  })
  const response = await app.request('/')
  expect(response.status).toBe(status)
  const text = await response.text()
  expect(JSON.parse(text).reason).toContain(reason)
  expect(text).not.toContain('secret')
  expect(response.headers.has('Retry-After')).toBe(status === 503)
})
