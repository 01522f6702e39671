import { and, eq } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { withFullScope } from '../../db/full-scope.ts'
import { userIdentity } from '../../db/schema/index.ts'
import { findEnabledIssuer } from './provider-settings.ts'

// An identity connects a user with the account at an identity provider. While this provider is
// enabled, the user signs in only there. An identity of another issuer counts for nothing:
// otherwise its user could not sign in at all.

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

/** Returns whether the user is connected with an account at this issuer. */
export async function hasIdentity(
  tx: Transaction,
  userId: string,
  issuer: string,
): Promise<boolean> {
  const rows = await tx
    .select()
    .from(userIdentity)
    .where(and(eq(userIdentity.user_id, userId), eq(userIdentity.issuer, issuer)))
  return rows.length > 0
}

/** Returns whether the enabled identity provider signs the user in, and no password does. */
export async function isSignedInByProvider(tx: Transaction, userId: string): Promise<boolean> {
  // Most users do not see the settings of the provider.
  const issuer = await withFullScope(tx, () => findEnabledIssuer(tx))
  return issuer !== undefined && (await hasIdentity(tx, userId, issuer))
}

/** Connects a user with an account. An account at an earlier issuer is disconnected. */
export async function connectIdentity(
  tx: Transaction,
  userId: string,
  { issuer, subject }: Identity,
): Promise<void> {
  await deleteIdentity(tx, userId)
  await tx.insert(userIdentity).values({ issuer, subject, user_id: userId })
}

/** Lets a user sign in with the password again. */
export async function deleteIdentity(tx: Transaction, userId: string): Promise<void> {
  await tx.delete(userIdentity).where(eq(userIdentity.user_id, userId))
}
