import { EyrieError } from '@eyrie/contract'
import { and, eq, lt, sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { session, user } from '../db/schema/index.ts'
import type { Passwords } from './passwords.ts'
import { type SessionClient, type StartedSession, startSession } from './sessions.ts'
import {
  countAttempt,
  deleteExpiredAttempts,
  forgiveAttempt,
  type LimitSubject,
  toNetwork,
} from './sign-in-limits.ts'

const OPERATION = '/user/auth'
/** Days after which ended sessions are deleted. */
const RETENTION_DAYS = 30

export interface Credentials {
  email: string
  password: string
}

export interface SignInDependencies {
  passwords: Passwords
  now(): Date
}

/** Compares e-mail addresses without regard to case. */
export const matchesEmail = (email: string) => eq(sql`lower(${user.email})`, email.trim().toLowerCase())

/**
 * Starts a session. Throws `TooManyAttempts`, or `EyrieError`: `id` for an unknown address and for a wrong password alike,
 * after the same time; `rights` for an inactive or unverified user, only if the password is correct.
 */
export async function signIn(
  database: Database,
  { email, password }: Credentials,
  client: SessionClient,
  { passwords, now }: SignInDependencies,
): Promise<StartedSession> {
  const subjects: LimitSubject[] = [
    { kind: 'address', name: toNetwork(client.address) },
    { kind: 'account', name: email.trim().toLowerCase() },
  ]
  const stored = await database.system(OPERATION, async tx => {
    await deleteExpiredAttempts(tx, now())
    for (const subject of subjects) await countAttempt(tx, subject, now())
    const [match] = await tx.select().from(user).where(matchesEmail(email))
    return match
  })
  const matches = await passwords.verify(stored?.password_hash, password)
  if (!stored || !matches) throw wrongCredentials()

  return database.system(OPERATION, async tx => {
    for (const subject of subjects) await forgiveAttempt(tx, subject)
    const isUser = eq(user.user_id, stored.user_id)
    // The password may have changed during verification.
    const [current] = await tx.select().from(user).where(isUser).for('update')
    if (current?.password_hash !== stored.password_hash) throw wrongCredentials()
    if (!current.is_active) throw new EyrieError('rights', 'this user is not active: ask an administrator')
    if (!current.is_verified) throw new EyrieError('rights', 'an administrator has to verify this user first')
    const retainedSince = new Date(now().getTime() - RETENTION_DAYS * 86_400_000)
    await tx
      .delete(session)
      .where(and(eq(session.user_id, stored.user_id), lt(session.expires_at, retainedSince)))
    await tx.update(user).set({ last_logged_in_at: now() }).where(isUser)
    return startSession(tx, stored.user_id, client, now())
  })
}

const wrongCredentials = () => new EyrieError('id', 'no user has this e-mail address and this password')
