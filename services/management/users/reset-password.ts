import { EyrieError } from '@eyrie/contract'
import { and, eq, inArray } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { role, user } from '../db/schema/index.ts'
import { generatePassword, listSuperadminEmails } from './first-administrator.ts'
import { deleteIdentity } from './oidc/identities.ts'
import { revokeCredentials } from './revoke-credentials.ts'
import { matchesEmail, normalizeEmail } from './sign-in.ts'
import { forgiveAccount, forgiveAttempt } from './sign-in-limits.ts'
import { removeAuthenticator } from './totp/authenticator.ts'
import type { Users } from './users.ts'

const OPERATION = 'eyrie user reset'
const MAX_LISTED_EMAILS = 5

/**
 * Implements `eyrie user reset`, with which the operator of the appliance lets an administrator
 * sign in again. Resolves to a generated password. Ends the administrator's sessions, deletes
 * the API tokens, the authenticator app and the connection to the identity provider, and
 * reactivates an account that is blocked or inactive. Throws `EyrieError` (`id`) if no
 * administrator has the e-mail address.
 */
export async function resetPassword(
  database: Database,
  email: string,
  { passwords, principals, now }: Pick<Users, 'passwords' | 'principals' | 'now'>,
): Promise<string> {
  const password = generatePassword()
  const passwordHash = await passwords.hash(password)

  await database.system(OPERATION, async tx => {
    const userId = await findAdministrator(tx, email)
    if (userId === undefined) throw await createUnknownError(tx, email)
    await tx
      .update(user)
      .set({ password_hash: passwordHash, is_active: true, is_verified: true })
      .where(eq(user.user_id, userId))
    await revokeCredentials(tx, { user_id: userId, now: now() })
    await deleteIdentity(tx, userId)
    await removeAuthenticator(tx, userId)
    await forgiveAccount(tx, normalizeEmail(email))
    await forgiveAttempt(tx, { kind: 'code', name: userId })
  })

  // The cached rights of the ended sessions must no longer be used.
  principals.clear()
  return password
}

/** Returns the id of the superadmin or admin with an e-mail address. */
async function findAdministrator(tx: Transaction, email: string): Promise<string | undefined> {
  const [administrator] = await tx
    .select({ user_id: user.user_id })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(and(matchesEmail(email), inArray(role.role_key, ['superadmin', 'admin'])))
  return administrator?.user_id
}

/** The error lists superadmins, in case the operator does not remember the address. */
async function createUnknownError(tx: Transaction, email: string): Promise<EyrieError> {
  const problem = `no administrator has the e-mail address ${email}`
  const superadmins = await listSuperadminEmails(tx, MAX_LISTED_EMAILS)
  const message =
    superadmins.length > 0 ? `${problem}; superadmins are ${superadmins.join(', ')}` : problem
  return new EyrieError('id', message)
}
