import { EyrieError } from '@eyrie/contract'
import { and, eq, gt, isNull, lt } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { session } from '../db/schema/index.ts'
import {
  formatRefreshToken,
  generateSecret,
  hashSecret,
  parseRefreshToken,
  type RefreshToken,
} from './opaque-token.ts'

// A session keeps a user signed in. It has a refresh token, which the client exchanges for a new
// one at each use. A token consists of two secrets. The `family` is the same for all tokens of a
// session, and the `secret` is different in each. An old token is thus recognized by its family.
// The cookie of the console holds the first token, which extends the session without an exchange.

/** A session ends after this time without use. */
const MAX_IDLE_MS = 30 * 86_400_000
/** Minimum time between two extensions by cookie, so that most requests do not write. */
const MIN_EXTENSION_INTERVAL_MS = 3_600_000
const MAX_USER_AGENT_LENGTH = 256

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

const toExpiry = (now: Date) => new Date(now.getTime() + MAX_IDLE_MS)
const toExtensionLimit = (now: Date) => new Date(now.getTime() - MIN_EXTENSION_INTERVAL_MS)

/** Selects the sessions that were not revoked and have not expired. */
const activeCondition = (now: Date) => and(isNull(session.revoked_at), gt(session.expires_at, now))

/** Selects the session whose current refresh token is this one. */
const tokenCondition = ({ family, secret }: RefreshToken) =>
  and(eq(session.family_hash, hashSecret(family)), eq(session.refresh_hash, hashSecret(secret)))

/**
 * Starts a session for a user who has signed in. The database stores only hashes of the refresh
 * token.
 */
export async function startSession(
  tx: Transaction,
  userId: string,
  client: SessionClient,
  now: Date,
): Promise<StartedSession> {
  const token = { family: generateSecret(), secret: generateSecret() }
  const rows = await tx
    .insert(session)
    .values({
      user_id: userId,
      family_hash: hashSecret(token.family),
      refresh_hash: hashSecret(token.secret),
      address: client.address,
      user_agent: client.user_agent.slice(0, MAX_USER_AGENT_LENGTH),
      created_at: now,
      used_at: now,
      expires_at: toExpiry(now),
    })
    .returning({ session_id: session.session_id })
  const { session_id } = firstRow(rows)
  return { user_id: userId, session_id, refresh_token: formatRefreshToken(token) }
}

/**
 * Extends a session and exchanges its refresh token for a new token. Throws `EyrieError` (`auth`)
 * if the token is invalid or expired. A token that was used before ends the session: it may have
 * been stolen (RFC 9700, section 4.14.2).
 */
export async function refreshSession(
  database: Database,
  refreshToken: string,
  now: Date,
): Promise<StartedSession> {
  const token = parseRefreshToken(refreshToken)
  if (!token) throw invalidRefreshToken()

  const newToken = { family: token.family, secret: generateSecret() }
  const extended = await database.system('/user/refresh', async tx => {
    const [row] = await tx
      .update(session)
      .set({ refresh_hash: hashSecret(newToken.secret), used_at: now, expires_at: toExpiry(now) })
      .where(and(tokenCondition(token), activeCondition(now)))
      .returning({ user_id: session.user_id, session_id: session.session_id })
    if (!row) await revokeFamily(tx, token.family, now)
    return row
  })

  if (!extended) throw invalidRefreshToken()
  return { ...extended, refresh_token: formatRefreshToken(newToken) }
}

/** Ends the session of a token family. Does nothing if the family is unknown. */
async function revokeFamily(tx: Transaction, family: string, now: Date): Promise<void> {
  await tx
    .update(session)
    .set({ revoked_at: now })
    .where(and(eq(session.family_hash, hashSecret(family)), isNull(session.revoked_at)))
}

const invalidRefreshToken = () =>
  new EyrieError('auth', 'this refresh token is invalid or expired: sign in again')

/**
 * Returns the active session that a refresh token belongs to; undefined if the token is
 * invalid or was used before.
 */
export async function findSession(tx: Transaction, refreshToken: string, now: Date) {
  const token = parseRefreshToken(refreshToken)
  if (!token) return undefined

  const [current] = await tx
    .select({
      user_id: session.user_id,
      session_id: session.session_id,
      used_at: session.used_at,
    })
    .from(session)
    .where(and(tokenCondition(token), activeCondition(now)))
  return current
}

/** Returns whether `extendSession` extends a session that was last used at this time. */
export const isExtensionDue = (usedAt: Date, now: Date): boolean => usedAt < toExtensionLimit(now)

/**
 * Extends a session without exchanging its refresh token. Returns false if the session has ended,
 * or a concurrent request has already extended it.
 */
export async function extendSession(
  tx: Transaction,
  sessionId: string,
  now: Date,
): Promise<boolean> {
  const isDue = lt(session.used_at, toExtensionLimit(now))
  const rows = await tx
    .update(session)
    .set({ used_at: now, expires_at: toExpiry(now) })
    .where(and(eq(session.session_id, sessionId), isDue, activeCondition(now)))
    .returning({ session_id: session.session_id })
  return rows.length > 0
}

/** Returns whether a session belongs to this user and has not ended. */
export async function isSessionActive(
  tx: Transaction,
  { session_id: sessionId, user_id: userId }: { session_id: string; user_id: string },
  now: Date,
): Promise<boolean> {
  const rows = await tx
    .select({ user_id: session.user_id })
    .from(session)
    .where(
      and(eq(session.session_id, sessionId), eq(session.user_id, userId), activeCondition(now)),
    )
  return rows.length > 0
}

/** Returns the sessions of a user that have not ended, oldest first. */
export const listSessions = (tx: Transaction, userId: string, now: Date) =>
  tx
    .select()
    .from(session)
    .where(and(eq(session.user_id, userId), activeCondition(now)))
    .orderBy(session.created_at)
