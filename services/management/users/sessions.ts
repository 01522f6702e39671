import { EyrieError } from '@eyrie/contract'
import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { session } from '../db/schema/index.ts'
import { formatRefreshToken, generateSecret, hashSecret, parseRefreshToken } from './opaque-token.ts'

/** A session ends after this many days without use. */
const IDLE_DAYS = 30
const USER_AGENT_LENGTH = 256

/** The client that signs in. */
export interface SessionClient {
  address: string
  user_agent: string
}

export interface StartedSession {
  user_id: string
  session_id: string
  refresh_token: string
}

const toExpiry = (now: Date) => new Date(now.getTime() + IDLE_DAYS * 86_400_000)

const isActive = (now: Date) => and(isNull(session.revoked_at), gt(session.expires_at, now))

export async function startSession(
  tx: Transaction,
  user_id: string,
  client: SessionClient,
  now: Date,
): Promise<StartedSession> {
  const token = { family: generateSecret(), secret: generateSecret() }
  const [created] = await tx
    .insert(session)
    .values({
      user_id,
      family_hash: hashSecret(token.family),
      refresh_hash: hashSecret(token.secret),
      address: client.address,
      user_agent: client.user_agent.slice(0, USER_AGENT_LENGTH),
      created_at: now,
      used_at: now,
      expires_at: toExpiry(now),
    })
    .returning({ session_id: session.session_id })
  return { user_id, session_id: created!.session_id, refresh_token: formatRefreshToken(token) }
}

/**
 * Exchanges a refresh token for the next one. Throws `EyrieError` (`auth`) if the token is invalid or expired. A token that
 * was already used ends the session, because a second party holds it (RFC 9700, 4.14.2).
 */
export async function refreshSession(database: Database, text: string, now: Date): Promise<StartedSession> {
  const token = parseRefreshToken(text)
  if (!token) throw invalidRefreshToken()
  const isSameFamily = eq(session.family_hash, hashSecret(token.family))
  const secret = generateSecret()
  const refreshed = await database.system('/user/refresh', async tx => {
    const [current] = await tx
      .update(session)
      .set({ refresh_hash: hashSecret(secret), used_at: now, expires_at: toExpiry(now) })
      .where(and(isSameFamily, eq(session.refresh_hash, hashSecret(token.secret)), isActive(now)))
      .returning({ user_id: session.user_id, session_id: session.session_id })
    if (!current)
      await tx
        .update(session)
        .set({ revoked_at: now })
        .where(and(isSameFamily, isNull(session.revoked_at)))
    return current
  })
  if (!refreshed) throw invalidRefreshToken()
  return { ...refreshed, refresh_token: formatRefreshToken({ family: token.family, secret }) }
}

const invalidRefreshToken = () =>
  new EyrieError('auth', 'this refresh token is invalid or expired: sign in again')

/** Returns the active session of an unused refresh token, or undefined. */
export async function findSession(tx: Transaction, text: string, now: Date) {
  const token = parseRefreshToken(text)
  if (!token) return undefined
  const [current] = await tx
    .select({ user_id: session.user_id, session_id: session.session_id })
    .from(session)
    .where(
      and(
        eq(session.family_hash, hashSecret(token.family)),
        eq(session.refresh_hash, hashSecret(token.secret)),
        isActive(now),
      ),
    )
  return current
}

/** Returns whether the session belongs to this user and has not ended. */
export async function isSessionActive(
  tx: Transaction,
  { session_id, user_id }: { session_id: string; user_id: string },
  now: Date,
): Promise<boolean> {
  const rows = await tx
    .select({ user_id: session.user_id })
    .from(session)
    .where(and(eq(session.session_id, session_id), eq(session.user_id, user_id), isActive(now)))
  return rows.length > 0
}

export async function listSessions(tx: Transaction, user_id: string, now: Date) {
  return tx
    .select()
    .from(session)
    .where(and(eq(session.user_id, user_id), isActive(now)))
    .orderBy(session.created_at)
}
