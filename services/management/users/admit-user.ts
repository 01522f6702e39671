import { EyrieError } from '@eyrie/contract'
import { and, eq, lt } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { session, user } from '../db/schema/index.ts'
import { type SessionClient, type StartedSession, startSession } from './sessions.ts'

// The last step of every sign-in.

/** Sessions are deleted this long after their expiry. */
const SESSION_RETENTION_MS = 30 * 86_400_000

type StoredUser = typeof user.$inferSelect

/** Reads a user, whom no other transaction can change until this one ends. */
export async function lockUser(tx: Transaction, userId: string): Promise<StoredUser | undefined> {
  const [locked] = await tx.select().from(user).where(eq(user.user_id, userId)).for('update')
  return locked
}

/** Throws `EyrieError` (`rights`) if the user is inactive or not verified. */
export function assertMaySignIn(found: StoredUser): void {
  if (!found.is_active) {
    throw new EyrieError('rights', 'this user is not active: ask an administrator')
  }
  if (!found.is_verified) {
    throw new EyrieError('rights', 'an administrator has to verify this user first')
  }
}

/** Starts a session for a user who has proved who they are. */
export async function admitUser(
  tx: Transaction,
  userId: string,
  client: SessionClient,
  now: Date,
): Promise<StartedSession> {
  const retainedSince = new Date(now.getTime() - SESSION_RETENTION_MS)
  await tx
    .delete(session)
    .where(and(eq(session.user_id, userId), lt(session.expires_at, retainedSince)))
  await tx.update(user).set({ last_logged_in_at: now }).where(eq(user.user_id, userId))
  return startSession(tx, userId, client, now)
}
