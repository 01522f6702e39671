import { EyrieError } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
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
    const [administrator] = await tx
      .select({ user_id: user.user_id, role_key: role.role_key })
      .from(user)
      .innerJoin(role, eq(role.role_id, user.role_id))
      .where(matchesEmail(email))
    if (!administrator || !['superadmin', 'admin'].includes(administrator.role_key)) {
      throw new EyrieError(
        'id',
        `no administrator has the e-mail address ${email}${await describeSuperadmins(tx)}`,
      )
    }

    const { user_id: userId } = administrator
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

/**
 * Returns the end of the error message, which lists superadmins in case the operator does not
 * remember the address.
 */
async function describeSuperadmins(tx: Transaction): Promise<string> {
  const emails = await listSuperadminEmails(tx, MAX_LISTED_EMAILS)
  return emails.length > 0 ? `; superadmins are ${emails.join(', ')}` : ''
}
