import { EyrieError } from '@eyrie/contract'
import { toNetwork } from '@eyrie/kit/client-network'
import { and, eq, lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { session, user } from '../db/schema/index.ts'
import type { Passwords } from './passwords.ts'
import { type SessionClient, type StartedSession, startSession } from './sessions.ts'
import { countAttempt, deleteExpiredAttempts, forgiveAttempt, listSignInSubjects } from './sign-in-limits.ts'

const OPERATION = '/user/auth'
/** Sessions are deleted this long after their expiry. */
const SESSION_RETENTION_MS = 30 * 86_400_000

export interface Credentials {
  email: string
  password: string
}

export interface SignInDependencies {
  passwords: Passwords
  now(): Date
}

/** Returns the form in which e-mail addresses are compared. */
export const normalizeEmail = (email: string) => email.trim().toLowerCase()

/** Returns the SQL condition that a user has this e-mail address. */
export const matchesEmail = (email: string) => eq(sql`lower(${user.email})`, normalizeEmail(email))

/**
 * Checks the credentials and starts a session. Throws `TooManyAttempts`, or `EyrieError`: `id` if the e-mail address or the
 * password is wrong, after the same time in both cases; `rights` if the password is correct, but the user is inactive or
 * not verified.
 */
export async function signIn(
  database: Database,
  { email, password }: Credentials,
  client: SessionClient,
  { passwords, now }: SignInDependencies,
): Promise<StartedSession> {
  const subjects = listSignInSubjects(normalizeEmail(email), toNetwork(client.address))
  const stored = await database.system(OPERATION, async tx => {
    await deleteExpiredAttempts(tx, now())
    for (const subject of subjects) await countAttempt(tx, subject, now())
    const [match] = await tx.select().from(user).where(matchesEmail(email))
    return match
  })

  // Hashing takes long, so it happens between the two transactions.
  const isCorrect = await passwords.verify(stored?.password_hash, password)
  if (!stored || !isCorrect) throw wrongCredentials()

  return database.system(OPERATION, async tx => {
    for (const subject of subjects) await forgiveAttempt(tx, subject)

    const isSameUser = eq(user.user_id, stored.user_id)
    // The password may have been changed since it was read.
    const [current] = await tx.select().from(user).where(isSameUser).for('update')
    if (current?.password_hash !== stored.password_hash) throw wrongCredentials()
    if (!current.is_active) throw new EyrieError('rights', 'this user is not active: ask an administrator')
    if (!current.is_verified) throw new EyrieError('rights', 'an administrator has to verify this user first')

    await deleteOldSessions(tx, stored.user_id, now())
    await tx.update(user).set({ last_logged_in_at: now() }).where(isSameUser)
    return startSession(tx, stored.user_id, client, now())
  })
}

async function deleteOldSessions(tx: Transaction, user_id: string, now: Date): Promise<void> {
  const retainedSince = new Date(now.getTime() - SESSION_RETENTION_MS)
  await tx.delete(session).where(and(eq(session.user_id, user_id), lt(session.expires_at, retainedSince)))
}

const wrongCredentials = () => new EyrieError('id', 'no user has this e-mail address and this password')
