import { createErrorHandler, createLog } from '@eyrie/kit'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { requireAccess } from './require-access.ts'

/** Requests a page from this address, with no token configured, and returns the status. */
async function statusFor(remoteAddress: string | undefined): Promise<number> {
  const app = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
  app.get('/', requireAccess(undefined), c => c.text('welcome'))
  return (await app.request('/', {}, { incoming: { socket: { remoteAddress } } })).status
}

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
})
