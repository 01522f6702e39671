import { createHmac, timingSafeEqual } from 'node:crypto'

/** Seconds within which a viewer has to come. */
export const TICKET_LIFETIME_S = 60

/** What a ticket lets somebody watch, and until when he may come (epoch ms). */
export interface Ticket {
  stream: string
  expires: number
}

/** A ticket that whoever has this secret knows as genuine. */
export function signTicket(secret: string, ticket: Ticket): string {
  const content = Buffer.from(JSON.stringify(ticket)).toString('base64url')
  return `${content}.${signatureOf(secret, content).toString('base64url')}`
}

/** Undefined for what nobody with this secret has signed. It may have expired. */
export function verifyTicket(secret: string, text: string): Ticket | undefined {
  const [content = '', signature = '', ...rest] = text.split('.')
  const given = Buffer.from(signature, 'base64url')
  const right = signatureOf(secret, content)
  if (rest.length > 0 || given.length !== right.length || !timingSafeEqual(given, right)) return undefined
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as Ticket
}

/** The secret serves other purposes, too. */
const signatureOf = (secret: string, content: string) =>
  createHmac('sha256', secret).update(`live view ticket ${content}`).digest()
