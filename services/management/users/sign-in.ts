import { EyrieError } from '@eyrie/contract'
import { and, eq, lt, sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { session, user } from '../db/schema/index.ts'
import type { Passwords } from './passwords.ts'
import { type Begun, beginSession, type Origin } from './sessions.ts'
import { countAttempt, forgetOldAttempts, forgive, networkOf, type Subject } from './sign-in-limits.ts'

const OPERATION = '/user/auth'
/** Days for which sessions that have ended are kept. */
const KEPT_DAYS = 30

export interface Credentials {
  email: string
  password: string
}

export interface SignInDependencies {
  passwords: Passwords
  now(): Date
}

/** How e-mail addresses are compared. */
export const hasEmail = (email: string) => eq(sql`lower(${user.email})`, email.trim().toLowerCase())

/**
 * Begins a session. Throws TooManyAttempts; EyrieError `id` alike for an address that nobody has and for a wrong
 * password, after the same work; `rights` for a user who may not act, but only to who knows the password.
 */
export async function signIn(
  database: Database,
  { email, password }: Credentials,
  from: Origin,
  { passwords, now }: SignInDependencies,
): Promise<Begun> {
  const counted: Subject[] = [
    { kind: 'address', name: networkOf(from.address) },
    { kind: 'account', name: email.trim().toLowerCase() },
  ]
  const known = await database.system(OPERATION, async tx => {
    await forgetOldAttempts(tx, now())
    for (const subject of counted) await countAttempt(tx, subject, now())
    const [found] = await tx.select().from(user).where(hasEmail(email))
    return found
  })
  const matches = await passwords.verify(known?.password_hash, password)
  if (!known || !matches) throw new EyrieError('id', 'no user has this e-mail address and this password')

  return database.system(OPERATION, async tx => {
    for (const subject of counted) await forgive(tx, subject)
    const me = eq(user.user_id, known.user_id)
    // The password may have been changed while it was compared.
    const [current] = await tx.select().from(user).where(me).for('update')
    if (current?.password_hash !== known.password_hash)
      throw new EyrieError('id', 'no user has this e-mail address and this password')
    if (!current.is_active) throw new EyrieError('rights', 'this user is not active: ask an administrator')
    if (!current.is_verified) throw new EyrieError('rights', 'an administrator has to verify this user first')
    const ended = new Date(now().getTime() - KEPT_DAYS * 86_400_000)
    await tx.delete(session).where(and(eq(session.user_id, known.user_id), lt(session.expires_at, ended)))
    await tx.update(user).set({ last_logged_in_at: now() }).where(me)
    return beginSession(tx, known.user_id, from, now())
  })
}
