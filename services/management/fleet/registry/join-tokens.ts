import type { JoinTokenInput, NewJoinToken } from '@eyrie/contract/management/managed-engine'
import { asc, eq, inArray } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { firstRow } from '../../db/rows.ts'
import { joinToken, site } from '../../db/schema/index.ts'
import { fieldError } from '../../errors/field-errors.ts'
import { generateSecret, hashSecret } from '../../users/opaque-token.ts'

/** The prefix lets secret scanners recognize leaked tokens. */
const TOKEN_PREFIX = 'eyrie_jt_'

type JoinTokenRow = typeof joinToken.$inferSelect

/**
 * Creates a token with which engines register themselves. Throws `EyrieError` (`syntax`) if the
 * sites belong to several organizations, or if the token would have expired already.
 */
export async function createJoinToken(
  tx: Transaction,
  { name, site_ids: siteIds = [], expires_at: expiresAt }: JoinTokenInput,
): Promise<NewJoinToken> {
  const owners = await tx
    .selectDistinct({ organization_id: site.organization_id })
    .from(site)
    .where(inArray(site.site_id, siteIds))
  if (owners.length > 1) {
    throw fieldError('site_ids', 'choose sites of one organization, which will own the engines')
  }
  const expiry = expiresAt ? new Date(expiresAt) : null
  if (expiry && expiry <= new Date()) throw fieldError('expires_at', 'must be in the future')

  // Only the hash is stored: the token cannot be shown again.
  const token = TOKEN_PREFIX + generateSecret()
  const values = { name, site_ids: siteIds, secret_hash: hashSecret(token), expires_at: expiry }
  const created = firstRow(await tx.insert(joinToken).values(values).returning())
  return { ...toJoinToken(created), join_token: token }
}

/** Returns all tokens, oldest first, without their secrets. */
export async function listJoinTokens(tx: Transaction) {
  const rows = await tx.select().from(joinToken).orderBy(asc(joinToken.created_at))
  return rows.map(toJoinToken)
}

/** Returns the rows that were deleted: one or none. */
export const deleteJoinToken = (tx: Transaction, joinTokenId: string) =>
  tx.delete(joinToken).where(eq(joinToken.join_token_id, joinTokenId)).returning()

const toJoinToken = ({ secret_hash: _, ...row }: JoinTokenRow) => ({
  ...row,
  created_at: row.created_at.toISOString(),
  used_at: row.used_at?.toISOString() ?? null,
  expires_at: row.expires_at?.toISOString() ?? null,
})
