import { createErrorHandler, createLog } from '@eyrie/kit'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { requireAccess } from './require-access.ts'

/** Status of a request from this address, where no token is configured. */
async function statusFor(remoteAddress: string | undefined): Promise<number> {
  const app = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
  app.get('/', requireAccess(undefined), c => c.text('welcome'))
  return (await app.request('/', {}, { incoming: { socket: { remoteAddress } } })).status
}

describe('without a token', () => {
  test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])(
    '%s, this machine, may come',
    async address => {
      expect(await statusFor(address)).toBe(200)
    },
  )

  test.each(['192.168.0.9', '::ffff:192.168.0.9', 'fe80::1', '::', '1127.0.0.1', undefined])(
    '%s, another machine, may not',
    async address => {
      expect(await statusFor(address)).toBe(401)
    },
  )
})
