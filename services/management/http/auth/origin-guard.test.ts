import { createErrorHandler, createLog } from '@eyrie/kit'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { allowLocalhostOnly } from './origin-guard.ts'

const app = new Hono()
app.onError(createErrorHandler(createLog('management', 'error')))
app.use(allowLocalhostOnly)
app.get('*', c => c.text('page'))

const request = (headers: Record<string, string>) => app.request('/', { headers })

describe('allowLocalhostOnly', () => {
  it.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'LOCALHOST'])(
    'accepts a request for host %s',
    async host => {
      expect((await request({ host })).status).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:8080',
    '192.168.1.5',
    '',
  ])('rejects host "%s", as sent after DNS rebinding', async host => {
    const response = await request({ host })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({
      code: 'auth',
      reason: expect.stringContaining(host),
    })
  })

  it('accepts a request from a page of the console', async () => {
    expect(
      (await request({ host: 'localhost:8080', origin: 'http://localhost:8080' })).status,
    ).toBe(200)
  })

  it.each(['http://evil.example', 'http://localhost:3000', 'null'])(
    'rejects a page of origin %s with 403',
    async origin => {
      expect((await request({ host: 'localhost:8080', origin })).status).toBe(403)
    },
  )
})
