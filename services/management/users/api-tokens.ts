import { and, eq, gt, isNull, lt, or } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { apiToken } from '../db/schema/index.ts'
import { API_TOKEN_PREFIX, generateSecret, hashSecret } from './opaque-token.ts'

/** Minimum time between two updates of `used_at`, so that most requests do not write. */
const MIN_USE_INTERVAL_MS = 60_000

// API tokens authenticate scripts and other programs. They are random secrets with a prefix,
// and belong to a user.

export const isApiToken = (secret: string) => secret.startsWith(API_TOKEN_PREFIX)

export const generateApiToken = () => API_TOKEN_PREFIX + generateSecret()

const validCondition = (now: Date) => or(isNull(apiToken.expires_at), gt(apiToken.expires_at, now))

/**
 * Returns the user and the scopes of an API token, or undefined if the token is unknown or expired.
 */
export async function findApiToken(tx: Transaction, secret: string, now: Date) {
  const [token] = await tx
    .select({ token_id: apiToken.token_id, user_id: apiToken.user_id, scopes: apiToken.scopes })
    .from(apiToken)
    .where(and(eq(apiToken.secret_hash, hashSecret(secret)), validCondition(now)))

  if (token) await recordTokenUse(tx, token.token_id, now)
  return token
}

/** Returns the scopes of a user's API token; undefined if the token is deleted or expired. */
export async function findTokenScopes(
  tx: Transaction,
  { token_id: tokenId, user_id: userId }: { token_id: string; user_id: string },
  now: Date,
): Promise<string[] | undefined> {
  const [token] = await tx
    .select({ scopes: apiToken.scopes })
    .from(apiToken)
    .where(and(eq(apiToken.token_id, tokenId), eq(apiToken.user_id, userId), validCondition(now)))
  return token?.scopes
}

async function recordTokenUse(tx: Transaction, tokenId: string, now: Date) {
  const staleBefore = new Date(now.getTime() - MIN_USE_INTERVAL_MS)
  await tx
    .update(apiToken)
    .set({ used_at: now })
    .where(
      and(
        eq(apiToken.token_id, tokenId),
        or(isNull(apiToken.used_at), lt(apiToken.used_at, staleBefore)),
      ),
    )
}
