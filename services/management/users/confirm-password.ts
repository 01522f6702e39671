import { toNetwork } from '@eyrie/kit/client-network'
import { and, eq } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { session, user } from '../db/schema/index.ts'
import { fieldError } from '../errors/field-errors.ts'
import type { Principal } from '../rights/principal.ts'
import { normalizeEmail } from './sign-in.ts'
import { countAttempt, forgiveAttempt, listSignInSubjects } from './sign-in-limits.ts'
import type { Users } from './users.ts'

const OPERATION = 'confirm the password'
/** A session counts as confirmed for this long after the user has signed in with the password. */
const CONFIRMED_FOR_MS = 5 * 60_000

interface Confirmation {
  caller: Principal
  /** The caller's session. */
  session_id: string
  /** The caller's own password. */
  current_password: string | undefined
  /** IP address of the client. */
  address: string
}

/**
 * Checks that the caller knows their own password: `current_password` is correct, or the caller has
 * signed in less than five minutes ago. This prevents that someone with an unlocked browser or a
 * stolen token takes over the account. Throws `EyrieError` (`rights`) about the field
 * `current_password` if the check fails. Wrong passwords count as failed sign-ins, so
 * `TooManyAttempts` may be thrown too.
 */
export async function confirmPassword(
  database: Database,
  { caller, session_id: sessionId, current_password: currentPassword, address }: Confirmation,
  { passwords, now }: Pick<Users, 'passwords' | 'now'>,
): Promise<void> {
  const stored = await database.system(OPERATION, async tx => {
    const [row] = await tx
      .select({
        password_hash: user.password_hash,
        email: user.email,
        signedInAt: session.created_at,
      })
      .from(user)
      .innerJoin(session, eq(session.user_id, user.user_id))
      .where(and(eq(user.user_id, caller.user_id), eq(session.session_id, sessionId)))
    return row
  })

  if (currentPassword === undefined) {
    const isRecent = stored && now().getTime() - stored.signedInAt.getTime() < CONFIRMED_FOR_MS
    if (isRecent) return
    throw fieldError('current_password', 'is required to change a password or an e-mail address', {
      code: 'rights',
    })
  }

  const subjects = listSignInSubjects(
    normalizeEmail(stored?.email ?? caller.actor),
    toNetwork(address),
  )
  await database.system(OPERATION, async tx => {
    for (const subject of subjects) await countAttempt(tx, subject, now())
  })
  if (!(await passwords.verify(stored?.password_hash, currentPassword))) {
    throw fieldError('current_password', 'is not your password', { code: 'rights' })
  }
  await database.system(OPERATION, async tx => {
    for (const subject of subjects) await forgiveAttempt(tx, subject)
  })
}
