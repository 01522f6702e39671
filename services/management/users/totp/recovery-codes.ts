import { createHash, randomInt } from 'node:crypto'
import { RECOVERY_CODE_COUNT } from '@eyrie/contract/management/index'
import { and, count, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { recoveryCode } from '../../db/schema/index.ts'

// With a recovery code, a user who has lost the authenticator app can sign in once.

/** Letters and digits that are not mistaken for each other. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 4

/**
 * Returns a random code, such as `k7qe-9fmx-2hdw-u4ct`. It has about 79 bits, so that it cannot
 * be found by its hash.
 */
function generateRecoveryCode(): string {
  const group = () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

const hashRecoveryCode = (code: string) =>
  createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest('base64url')

/** Replaces the recovery codes of a user. The database stores only their hashes. */
export async function replaceRecoveryCodes(tx: Transaction, userId: string): Promise<string[]> {
  await deleteRecoveryCodes(tx, userId)
  const codes = Array.from({ length: RECOVERY_CODE_COUNT }, generateRecoveryCode)
  await tx
    .insert(recoveryCode)
    .values(codes.map(code => ({ user_id: userId, code_hash: hashRecoveryCode(code) })))
  return codes
}

export const deleteRecoveryCodes = (tx: Transaction, userId: string) =>
  tx.delete(recoveryCode).where(eq(recoveryCode.user_id, userId))

/** Marks a recovery code as used. Returns false if the code is wrong or was used before. */
export async function spendRecoveryCode(
  tx: Transaction,
  userId: string,
  code: string,
  now: Date,
): Promise<boolean> {
  const spent = await tx
    .update(recoveryCode)
    .set({ spent_at: now })
    .where(
      and(
        eq(recoveryCode.user_id, userId),
        eq(recoveryCode.code_hash, hashRecoveryCode(code)),
        isNull(recoveryCode.spent_at),
      ),
    )
    .returning({ user_id: recoveryCode.user_id })
  return spent.length > 0
}

/** Returns how many recovery codes of a user can still be used. */
export async function countRecoveryCodes(tx: Transaction, userId: string): Promise<number> {
  const [left] = await tx
    .select({ count: count() })
    .from(recoveryCode)
    .where(and(eq(recoveryCode.user_id, userId), isNull(recoveryCode.spent_at)))
  return left?.count ?? 0
}
