import { createErrorHandler, createLog } from '@eyrie/kit'
import { expect, it } from 'vitest'
import { createSessionRoutes } from './session-routes.ts'

function unexpected(): never {
  throw new Error('the request was not rejected')
}

it('sign-in rejects a body that is too large with 413', async () => {
  const app = createSessionRoutes({
    mayViewWithoutSignIn: () => false,
    localSessions: { end: unexpected },
    database: unexpected,
    identify: unexpected,
    users: unexpected,
  })
  app.onError(createErrorHandler(createLog('management', 'silent')))
  const headers = {
    Host: 'eyrie.test',
    Origin: 'http://eyrie.test',
    'Content-Type': 'application/json',
  }
  const response = await app.request('http://eyrie.test/', {
    method: 'POST',
    headers,
    body: 'x'.repeat((16 << 10) + 1),
  })
  expect([response.status, await response.json()]).toEqual([
    413,
    { code: 'size', reason: 'the body is larger than 16384 bytes' },
  ])
})
