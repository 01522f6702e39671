import { and, eq } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { userIdentity } from '../../db/schema/index.ts'

// An identity connects a user with the account at an identity provider. Such a user
// signs in only there.

export interface Identity {
  issuer: string
  subject: string
}

/** Returns the id of the user with this account. */
export async function findIdentityOwner(
  tx: Transaction,
  { issuer, subject }: Identity,
): Promise<string | undefined> {
  const [found] = await tx
    .select({ user_id: userIdentity.user_id })
    .from(userIdentity)
    .where(and(eq(userIdentity.issuer, issuer), eq(userIdentity.subject, subject)))
  return found?.user_id
}

/** Returns whether an identity provider signs the user in. */
export async function hasIdentity(tx: Transaction, userId: string): Promise<boolean> {
  const rows = await tx.select().from(userIdentity).where(eq(userIdentity.user_id, userId))
  return rows.length > 0
}

export async function insertIdentity(
  tx: Transaction,
  userId: string,
  { issuer, subject }: Identity,
): Promise<void> {
  await tx.insert(userIdentity).values({ issuer, subject, user_id: userId })
}

/** Lets a user sign in with the password again. */
export async function deleteIdentity(tx: Transaction, userId: string): Promise<void> {
  await tx.delete(userIdentity).where(eq(userIdentity.user_id, userId))
}
