import { createHmac, timingSafeEqual } from 'node:crypto'

/** Seconds until a new ticket expires. */
export const TICKET_LIFETIME_S = 60

/** Grants access to one stream until it expires (epoch ms). */
export interface Ticket {
  stream: string
  expires: number
}

/** Signs a ticket. Every holder of the secret can verify it. */
export function signTicket(secret: string, ticket: Ticket): string {
  const content = Buffer.from(JSON.stringify(ticket)).toString('base64url')
  return `${content}.${createSignature(secret, content).toString('base64url')}`
}

/** Verifies the signature of a ticket. Undefined if it is not valid. The caller has to check `expires`. */
export function verifyTicket(secret: string, text: string): Ticket | undefined {
  const [content = '', signature = '', ...rest] = text.split('.')
  const actual = Buffer.from(signature, 'base64url')
  const expected = createSignature(secret, content)
  if (rest.length > 0 || actual.length !== expected.length || !timingSafeEqual(actual, expected))
    return undefined
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as Ticket
}

/** The prefix separates tickets from other uses of the secret. */
const createSignature = (secret: string, content: string) =>
  createHmac('sha256', secret).update(`live view ticket ${content}`).digest()
