import { EyrieError } from '@eyrie/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { role, session, user } from '../db/schema/index.ts'
import { newPassword, superadmins } from './first-administrator.ts'
import { hasEmail } from './sign-in.ts'
import { forgive } from './sign-in-limits.ts'
import type { Users } from './users.ts'

const OPERATION = 'eyrie user reset'
const MOST_NAMED = 5

/**
 * Gives an administrator a new password, for who has the box in their hands: ends their sessions, takes away what keeps
 * them from signing in, and resolves to the password. Throws EyrieError `id` where there is no such administrator.
 */
export async function resetPassword(
  database: Database,
  email: string,
  { passwords, principals, now }: Pick<Users, 'passwords' | 'principals' | 'now'>,
): Promise<string> {
  const password = newPassword()
  const password_hash = await passwords.hash(password)
  await database.system(OPERATION, async tx => {
    const [found] = await tx
      .select({ user_id: user.user_id, role_key: role.role_key })
      .from(user)
      .innerJoin(role, eq(role.role_id, user.role_id))
      .where(hasEmail(email))
    if (!found || !['superadmin', 'admin'].includes(found.role_key))
      throw new EyrieError('id', `no administrator has the e-mail address ${email}${await others(tx)}`)
    const its = eq(user.user_id, found.user_id)
    await tx.update(user).set({ password_hash, is_active: true, is_verified: true }).where(its)
    const open = and(eq(session.user_id, found.user_id), isNull(session.revoked_at))
    await tx.update(session).set({ revoked_at: now() }).where(open)
    await forgive(tx, { kind: 'account', name: email.trim().toLowerCase() })
  })
  principals.clear()
  return password
}

/** Whoever has the box may know who could be meant. */
async function others(tx: Transaction): Promise<string> {
  const found = await superadmins(tx, MOST_NAMED)
  return found.length > 0 ? `; superadmins are ${found.join(', ')}` : ''
}
