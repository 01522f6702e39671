import { createErrorHandler, createLog } from '@eyrie/kit'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { guard } from './origin-guard.ts'

const app = new Hono()
app.onError(createErrorHandler(createLog('management', 'error')))
app.use(guard)
app.get('*', c => c.text('here you are'))

const ask = (headers: Record<string, string>) => app.request('/', { headers })

describe('the guard', () => {
  it.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'LOCALHOST'])(
    'lets in who asks for %s',
    async host => {
      expect((await ask({ host })).status).toBe(200)
    },
  )

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:8080', '192.168.1.5', ''])(
    'refuses who asks for "%s", as by DNS rebinding',
    async host => {
      const response = await ask({ host })
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({ code: 'auth', reason: expect.stringContaining(host) })
    },
  )

  it('lets in its own pages', async () => {
    expect((await ask({ host: 'localhost:8080', origin: 'http://localhost:8080' })).status).toBe(200)
  })

  it.each(['http://evil.example', 'http://localhost:3000', 'null'])('refuses pages of %s', async origin => {
    expect((await ask({ host: 'localhost:8080', origin })).status).toBe(403)
  })
})
