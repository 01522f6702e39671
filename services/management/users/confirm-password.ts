import { toNetwork } from '@eyrie/kit/client-network'
import { and, eq } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { session, user } from '../db/schema/index.ts'
import { fieldError } from '../errors/field-errors.ts'
import type { Principal } from '../rights/principal.ts'
import { normalizeEmail } from './sign-in.ts'
import { countAttempt, forgiveAttempt, listSignInSubjects } from './sign-in-limits.ts'
import type { Users } from './users.ts'

const OPERATION = 'confirm the password'
/** After a sign-in, the password is not required again for this long. */
const RECENT_SIGN_IN_MS = 5 * 60_000

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
  { caller, session_id, current_password: password, address }: Confirmation,
  { passwords, now }: Pick<Users, 'passwords' | 'now'>,
): Promise<void> {
  const account = await database.system(OPERATION, tx => findAccount(tx, caller, session_id))
  if (password === undefined) {
    assertSignedInRecently(account, now())
    return
  }

  const email = normalizeEmail(account?.email ?? caller.actor)
  const subjects = listSignInSubjects(email, toNetwork(address))
  // Counted before the check, so that concurrent attempts are limited too.
  await database.system(OPERATION, async tx => {
    for (const subject of subjects) await countAttempt(tx, subject, now())
  })
  const isCorrect = await passwords.verify(account?.password_hash, password)
  if (!isCorrect) {
    throw fieldError('current_password', 'is not your password', { code: 'rights' })
  }
  await database.system(OPERATION, async tx => {
    for (const subject of subjects) await forgiveAttempt(tx, subject)
  })
}

/** The caller as a user, with the time at which the session began. */
interface Account {
  email: string
  password_hash: string
  signedInAt: Date
}

/** Returns the account of the caller, or undefined if the session was deleted in the meantime. */
async function findAccount(
  tx: Transaction,
  caller: Principal,
  sessionId: string,
): Promise<Account | undefined> {
  const [account] = await tx
    .select({
      email: user.email,
      password_hash: user.password_hash,
      signedInAt: session.created_at,
    })
    .from(user)
    .innerJoin(session, eq(session.user_id, user.user_id))
    .where(and(eq(user.user_id, caller.user_id), eq(session.session_id, sessionId)))
  return account
}

function assertSignedInRecently(account: Account | undefined, now: Date): void {
  const isRecent = account && now.getTime() - account.signedInAt.getTime() < RECENT_SIGN_IN_MS
  if (isRecent) return
  throw fieldError('current_password', 'is required to change a password or an e-mail address', {
    code: 'rights',
  })
}
