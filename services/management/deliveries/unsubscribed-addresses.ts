import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { unsubscribed } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'

/**
 * The owner of an e-mail address unsubscribes from digests by a link in them, without signing in.
 * The token in the link names the address; only this appliance can create it. It does not expire,
 * as old e-mails are read too.
 */

/** Distinguishes the token from other encrypted texts. */
const PURPOSE = 'unsubscribe:'

export const createUnsubscribeToken = (address: string, secrets: Secrets): string =>
  secrets.encrypt(PURPOSE + address.toLowerCase())

/** Returns the address; undefined if this appliance has not created the token. */
export function readUnsubscribeToken(token: string, secrets: Secrets): string | undefined {
  try {
    const text = secrets.decrypt(token)
    return text.startsWith(PURPOSE) ? text.slice(PURPOSE.length) : undefined
  } catch {
    return undefined
  }
}

export async function isUnsubscribed(tx: Transaction, address: string): Promise<boolean> {
  const rows = await tx.select().from(unsubscribed).where(eq(unsubscribed.address, address))
  return rows.length > 0
}

export const unsubscribe = (tx: Transaction, address: string): Promise<unknown> =>
  tx.insert(unsubscribed).values({ address }).onConflictDoNothing()

/** Sends digests to an address again. Returns whether it had unsubscribed. */
export async function resubscribe(tx: Transaction, address: string): Promise<boolean> {
  const rows = await tx
    .delete(unsubscribed)
    .where(eq(unsubscribed.address, address.toLowerCase()))
    .returning({ address: unsubscribed.address })
  return rows.length > 0
}
