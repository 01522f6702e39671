import { createErrorHandler, createLog, digestToken } from '@eyrie/kit'
import { signTicket } from '@eyrie/kit/stream-ticket'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { requireAccess } from './require-access.ts'

const app = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
app.use(requireAccess('internal'))
app.post('/streams/:id/whep', c => c.body(null, 201, { Location: `${c.req.path}/session` }))
app.all('*', c => c.text('welcome'))

const soon = Date.now() + 60_000
const past = Date.now() - 1
const request = (path: string, ticket: string, method = 'GET') =>
  app.request(`${path}?${new URLSearchParams({ ticket })}`, { method })

describe('ticket of a stream', () => {
  it.each([
    ['/streams/7', signTicket('internal', { stream: '7', expires: soon }), 200],
    ['/streams/7/ws', signTicket('internal', { stream: '7', expires: soon }), 200],
    ['/streams/7/whep/session', signTicket('internal', { stream: '7', expires: past }), 200],
    ['/streams/7', signTicket('internal', { stream: '7', expires: past }), 401],
    ['/streams/8', signTicket('internal', { stream: '7', expires: soon }), 401],
    ['/streams/7', signTicket('another', { stream: '7', expires: soon }), 401],
    ['/streams', signTicket('internal', { stream: '7', expires: soon }), 401],
    ['/recordings/7', signTicket('internal', { stream: '7', expires: soon }), 401],
    ['/internal/control', signTicket('internal', { stream: '7', expires: soon }), 401],
  ])('gets %s with ticket %s answered with status %i', async (path, ticket, status) => {
    expect((await request(path, ticket)).status).toBe(status)
  })

  it('is included in the Location of a new session', async () => {
    const ticket = signTicket('internal', { stream: '7', expires: soon })
    const { headers } = await request('/streams/7/whep', ticket, 'POST')
    expect(headers.get('Location')).toBe(
      `/streams/7/whep/session?${new URLSearchParams({ ticket })}`,
    )
  })
})

it.each([
  ['internal', 200],
  ['engine', 200],
  ['another', 401],
])(
  'the token %s is answered with status %i where engine tokens are accepted',
  async (token, status) => {
    const streams = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
    streams.use(requireAccess('internal', [digestToken('engine')]))
    streams.get('/streams', c => c.json([]))
    const answer = await streams.request('/streams', {
      headers: { Authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(status)
  },
)
