import { and, eq, gt, isNull, lt, or } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { apiToken } from '../db/schema/index.ts'
import { API_TOKEN, digestOf, randomSecret } from './opaque-token.ts'

export const isApiToken = (text: string) => text.startsWith(API_TOKEN)

export const newApiToken = () => API_TOKEN + randomSecret()

/** A use is written down at most so often, so that reading does not become writing. */
const NOTED_EVERY_MS = 60_000

/** Whose token it is, and what it was made for; undefined where it is none of ours or has expired. */
export async function findApiToken(tx: Transaction, text: string, now: Date) {
  const [found] = await tx
    .select({ token_id: apiToken.token_id, user_id: apiToken.user_id, scopes: apiToken.scopes })
    .from(apiToken)
    .where(
      and(
        eq(apiToken.secret_hash, digestOf(text)),
        or(isNull(apiToken.expires_at), gt(apiToken.expires_at, now)),
      ),
    )
  if (found) await noteUse(tx, found.token_id, now)
  return found
}

async function noteUse(tx: Transaction, token_id: string, now: Date) {
  const due = new Date(now.getTime() - NOTED_EVERY_MS)
  await tx
    .update(apiToken)
    .set({ used_at: now })
    .where(and(eq(apiToken.token_id, token_id), or(isNull(apiToken.used_at), lt(apiToken.used_at, due))))
}
