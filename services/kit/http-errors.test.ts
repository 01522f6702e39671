import { EyrieError } from '@eyrie/contract'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { createErrorHandler } from './http-errors.ts'
import { createLog } from './log.ts'

it.each([
  [
    'as it is where it is meant for the caller',
    new EyrieError('id', 'no source 7', { value: { id: 7 } }),
    404,
    'no source 7',
  ],
  [
    'as a full disk where it is one',
    Object.assign(new Error('write'), { code: 'ENOSPC' }),
    503,
    'the disk is full',
  ],
  ['without a word of what nobody foresaw', new Error('/etc/secret at line 3'), 500, 'the service failed'],
])('an error is answered %s', async (_, error, status, reason) => {
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
