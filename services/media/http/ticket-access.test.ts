import { createErrorHandler, createLog } from '@eyrie/kit'
import { signTicket } from '@eyrie/kit/stream-ticket'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { requireAccess } from './require-access.ts'

const app = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
app.use(requireAccess('internal'))
app.post('/streams/:id/whep', c => c.body(null, 201, { Location: `${c.req.path}/session` }))
app.all('*', c => c.text('welcome'))

const soon = Date.now() + 60_000
const past = Date.now() - 1
const ask = (path: string, ticket: string, method = 'GET') =>
  app.request(`${path}?${new URLSearchParams({ ticket })}`, { method })

test.each([
  ['/streams/7', signTicket('internal', { stream: '7', expires: soon }), 200],
  ['/streams/7/ws', signTicket('internal', { stream: '7', expires: soon }), 200],
  ['/streams/7/whep/session', signTicket('internal', { stream: '7', expires: past }), 200],
  ['/streams/7', signTicket('internal', { stream: '7', expires: past }), 401],
  ['/streams/8', signTicket('internal', { stream: '7', expires: soon }), 401],
  ['/streams/7', signTicket('another', { stream: '7', expires: soon }), 401],
  ['/streams', signTicket('internal', { stream: '7', expires: soon }), 401],
  ['/recordings/7', signTicket('internal', { stream: '7', expires: soon }), 401],
  ['/internal/control', signTicket('internal', { stream: '7', expires: soon }), 401],
])('%s with this ticket is answered by its status', async (path, ticket, status) => {
  expect((await ask(path, ticket)).status).toBe(status)
})

test('who has come by a ticket is told where to go with it', async () => {
  const ticket = signTicket('internal', { stream: '7', expires: soon })
  const { headers } = await ask('/streams/7/whep', ticket, 'POST')
  expect(headers.get('Location')).toBe(`/streams/7/whep/session?${new URLSearchParams({ ticket })}`)
})

test.each([
  ['internal', 200],
  ['engine', 200],
  ['another', 401],
])('the token %s is answered by %i where those of the engine will do', async (token, status) => {
  const streams = new Hono().onError(createErrorHandler(createLog('media', 'silent')))
  streams.use(requireAccess('internal', ['engine']))
  streams.get('/streams', c => c.json([]))
  const answer = await streams.request('/streams', { headers: { Authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(status)
})
