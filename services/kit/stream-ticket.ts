import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Grants access to one live stream for a short time. The engine issues a ticket to a
 * viewer, and the service that serves the stream verifies it, without asking the engine:
 * both know the same secret.
 */
export interface Ticket {
  /** Id of the stream. */
  stream: string
  /** End of validity in ms since 1970. */
  expires: number
}

/** Lifetime of a new ticket. */
export const TICKET_LIFETIME_S = 60

/**
 * Returns the signed ticket as text for a URL: the content and its signature, separated by a dot.
 */
export function signTicket(secret: string, ticket: Ticket): string {
  const content = Buffer.from(JSON.stringify(ticket)).toString('base64url')
  const signature = createSignature(secret, content).toString('base64url')
  return `${content}.${signature}`
}

/**
 * Parses a signed ticket. Returns undefined if the signature is invalid. The caller
 * must check `expires`.
 */
export function verifyTicket(secret: string, signedTicket: string): Ticket | undefined {
  const [content = '', signature = '', ...otherParts] = signedTicket.split('.')
  if (otherParts.length > 0) return undefined

  const actual = Buffer.from(signature, 'base64url')
  const expected = createSignature(secret, content)
  // `timingSafeEqual` throws if the lengths differ.
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined

  return JSON.parse(Buffer.from(content, 'base64url').toString()) as Ticket
}

/** The prefix prevents signatures of other content from being accepted as tickets. */
const createSignature = (secret: string, content: string) =>
  createHmac('sha256', secret).update(`live view ticket ${content}`).digest()
