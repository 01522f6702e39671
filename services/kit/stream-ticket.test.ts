import { describe, expect, it } from 'vitest'
import { signTicket, verifyTicket } from './stream-ticket.ts'

const ticket = { stream: '7', expires: 1_700_000_000_000 }
const signed = signTicket('secret', ticket)

describe('stream ticket', () => {
  it('is verified with the secret that signed it', () => {
    expect(verifyTicket('secret', signed)).toEqual(ticket)
  })

  it.each([
    ['signed with another secret', signTicket('other', ticket)],
    [
      'changed to another stream',
      `${signTicket('x', { ...ticket, stream: '8' }).split('.')[0]}.${signed.split('.')[1]}`,
    ],
    ['unsigned', signed.split('.')[0]!],
    ['followed by other data', `${signed}.x`],
    ['empty', ''],
  ])('is rejected if it is %s', (_, text) => {
    expect(verifyTicket('secret', text)).toBeUndefined()
  })
})
