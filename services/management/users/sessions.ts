import { EyrieError } from '@eyrie/contract'
import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { session } from '../db/schema/index.ts'
import { digestOf, randomSecret, readRefreshToken, writeRefreshToken } from './opaque-token.ts'

/** Days without any use after which a session ends. */
const IDLE_DAYS = 30
const USER_AGENT_LENGTH = 256

/** Where a session is begun from. */
export interface Origin {
  address: string
  user_agent: string
}

export interface Begun {
  user_id: string
  session_id: string
  refresh_token: string
}

const expiry = (now: Date) => new Date(now.getTime() + IDLE_DAYS * 86_400_000)

const isAlive = (now: Date) => and(isNull(session.revoked_at), gt(session.expires_at, now))

export async function beginSession(
  tx: Transaction,
  user_id: string,
  from: Origin,
  now: Date,
): Promise<Begun> {
  const token = { family: randomSecret(), secret: randomSecret() }
  const [made] = await tx
    .insert(session)
    .values({
      user_id,
      family_hash: digestOf(token.family),
      refresh_hash: digestOf(token.secret),
      address: from.address,
      user_agent: from.user_agent.slice(0, USER_AGENT_LENGTH),
      created_at: now,
      used_at: now,
      expires_at: expiry(now),
    })
    .returning({ session_id: session.session_id })
  return { user_id, session_id: made!.session_id, refresh_token: writeRefreshToken(token) }
}

/**
 * Exchanges a refresh token for the next one. Throws EyrieError `auth` where it is not good. One that was used before
 * ends its session, since two hold it now of whom one has stolen it.
 */
export async function refreshSession(database: Database, text: string, now: Date): Promise<Begun> {
  const given = readRefreshToken(text)
  if (!given) throw notGood()
  const family = eq(session.family_hash, digestOf(given.family))
  const secret = randomSecret()
  const continued = await database.system('/user/refresh', async tx => {
    const [found] = await tx
      .update(session)
      .set({ refresh_hash: digestOf(secret), used_at: now, expires_at: expiry(now) })
      .where(and(family, eq(session.refresh_hash, digestOf(given.secret)), isAlive(now)))
      .returning({ user_id: session.user_id, session_id: session.session_id })
    if (!found)
      await tx
        .update(session)
        .set({ revoked_at: now })
        .where(and(family, isNull(session.revoked_at)))
    return found
  })
  if (!continued) throw notGood()
  return { ...continued, refresh_token: writeRefreshToken({ family: given.family, secret }) }
}

const notGood = () => new EyrieError('auth', 'this refresh token is not good, or not any more: sign in again')

/** The living session of a refresh token that has not been used; undefined where there is none. */
export async function findSession(tx: Transaction, text: string, now: Date) {
  const given = readRefreshToken(text)
  if (!given) return undefined
  const [found] = await tx
    .select({ user_id: session.user_id, session_id: session.session_id })
    .from(session)
    .where(
      and(
        eq(session.family_hash, digestOf(given.family)),
        eq(session.refresh_hash, digestOf(given.secret)),
        isAlive(now),
      ),
    )
  return found
}

/** Whether a session is this user's, and goes on. */
export async function isSessionAlive(
  tx: Transaction,
  { session_id, user_id }: { session_id: string; user_id: string },
  now: Date,
): Promise<boolean> {
  const found = await tx
    .select({ user_id: session.user_id })
    .from(session)
    .where(and(eq(session.session_id, session_id), eq(session.user_id, user_id), isAlive(now)))
  return found.length > 0
}

export async function listSessions(tx: Transaction, user_id: string, now: Date) {
  return tx
    .select()
    .from(session)
    .where(and(eq(session.user_id, user_id), isAlive(now)))
    .orderBy(session.created_at)
}
