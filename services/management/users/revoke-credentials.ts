import { and, eq, isNull, ne } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { apiToken, session, signInChallenge } from '../db/schema/index.ts'

/**
 * Ends the sessions and the unfinished sign-ins of a user and deletes the user's API tokens, so
 * that a stolen one grants no access. The session `exceptSessionId` continues: its client has just
 * changed the password.
 */
export async function revokeCredentials(
  tx: Transaction,
  {
    user_id: userId,
    exceptSessionId,
    now,
  }: { user_id: string; exceptSessionId?: string | undefined; now: Date },
): Promise<void> {
  const isOther = exceptSessionId ? ne(session.session_id, exceptSessionId) : undefined
  await tx
    .update(session)
    .set({ revoked_at: now })
    .where(and(eq(session.user_id, userId), isNull(session.revoked_at), isOther))
  await tx.delete(signInChallenge).where(eq(signInChallenge.user_id, userId))
  await tx.delete(apiToken).where(eq(apiToken.user_id, userId))
}
