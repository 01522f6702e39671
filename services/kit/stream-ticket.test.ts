import { expect, test } from 'vitest'
import { signTicket, verifyTicket } from './stream-ticket.ts'

const ticket = { stream: '7', expires: 1_700_000_000_000 }
const signed = signTicket('secret', ticket)

test('a ticket says what it was signed for', () => {
  expect(verifyTicket('secret', signed)).toEqual(ticket)
})

test.each([
  ['signed with another secret', signTicket('other', ticket)],
  [
    'for another stream',
    `${signTicket('x', { ...ticket, stream: '8' }).split('.')[0]}.${signed.split('.')[1]}`,
  ],
  ['without a signature', signed.split('.')[0]!],
  ['with something behind it', `${signed}.x`],
  ['empty', ''],
])('a ticket %s is none', (_, text) => {
  expect(verifyTicket('secret', text)).toBeUndefined()
})
