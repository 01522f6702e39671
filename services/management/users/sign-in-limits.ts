import { EyrieError } from '@eyrie/contract'
import { eq, lt, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { signInFailure } from '../db/schema/index.ts'

// Limits how often passwords can be tried and users be registered. The database counts the attempts of each subject, which is
// the account that is signed in to, or the network of the client.

/** After `freeAttempts`, every further attempt blocks the subject, each time for twice as long. */
interface Limit {
  freeAttempts: number
  firstBlockMs: number
  maxBlockMs: number
}

const MINUTE_MS = 60_000
const BLOCK_TIMES = { firstBlockMs: 1_000, maxBlockMs: 15 * MINUTE_MS }

/** A network has higher limits than an account, because all users of a site may share an address. */
const LIMITS = {
  /** Sign-ins to an account: prevents guessing its password (NIST SP 800-63B, section 3.2.2, allows 100 failures). */
  account: { freeAttempts: 10, ...BLOCK_TIMES },
  /** Sign-ins from a network: prevents trying a password with many accounts. */
  address: { freeAttempts: 300, ...BLOCK_TIMES },
  /** Registrations from a network: prevents filling the user table. */
  register: { freeAttempts: 1_000, ...BLOCK_TIMES },
} satisfies Record<string, Limit>

/** After this time without an attempt, the earlier attempts no longer count. */
const EXPIRES_AFTER_MS = 30 * MINUTE_MS

export type LimitKind = keyof typeof LIMITS

/** The account or network whose attempts are counted. */
export interface LimitSubject {
  kind: LimitKind
  /** The normalized e-mail address of an account, which need not exist, or the network of a client. */
  name: string
}

/** Thrown while a subject is blocked, including accounts that do not exist. */
export class TooManyAttempts extends EyrieError {
  /** Seconds until the next attempt is allowed. */
  readonly retryAfter: number

  constructor(waitMs: number) {
    const seconds = Math.ceil(waitMs / 1000)
    super('rights', `too many attempts: try again in ${seconds} s`)
    this.retryAfter = seconds
  }
}

/**
 * Counts an attempt. Call this before the attempt, so that concurrent attempts are limited too, and `forgiveAttempt` after
 * success. While the subject is blocked, throws `TooManyAttempts` and counts nothing.
 */
export async function countAttempt(tx: Transaction, { kind, name }: LimitSubject, now: Date): Promise<void> {
  const subject = `${kind}:${name}`
  await tx.insert(signInFailure).values({ subject, failures: 0, last_at: now }).onConflictDoNothing()
  const [previous] = await tx
    .select()
    .from(signInFailure)
    .where(eq(signInFailure.subject, subject))
    .for('update')

  const blockedUntilMs = previous?.blocked_until?.getTime() ?? 0
  const waitMs = blockedUntilMs - now.getTime()
  if (waitMs > 0) throw new TooManyAttempts(waitMs)

  const isExpired = !previous || now.getTime() - previous.last_at.getTime() > EXPIRES_AFTER_MS
  const failures = isExpired ? 1 : previous.failures + 1
  const blockMs = toBlockMs(LIMITS[kind], failures)
  const blocked_until = blockMs > 0 ? new Date(now.getTime() + blockMs) : null

  await tx
    .update(signInFailure)
    .set({ failures, last_at: now, blocked_until })
    .where(eq(signInFailure.subject, subject))
}

/** Returns for how long a subject is blocked after this number of failures. */
function toBlockMs({ freeAttempts, firstBlockMs, maxBlockMs }: Limit, failures: number): number {
  if (failures < freeAttempts) return 0
  const blockMs = firstBlockMs * 2 ** (failures - freeAttempts)
  return Math.min(maxBlockMs, blockMs)
}

/**
 * Removes a successful attempt from the count. For an account, this also clears all earlier failures. The earlier failures of
 * a network still count, because an attacker may own an account in the network.
 */
export async function forgiveAttempt(tx: Transaction, { kind, name }: LimitSubject): Promise<void> {
  const matchesSubject = eq(signInFailure.subject, `${kind}:${name}`)
  if (kind === 'account') {
    await tx.delete(signInFailure).where(matchesSubject)
    return
  }
  await tx
    .update(signInFailure)
    .set({ failures: sql`greatest(${signInFailure.failures} - 1, 0)`, blocked_until: null })
    .where(matchesSubject)
}

/** Deletes the attempts that no longer count. */
export async function deleteExpiredAttempts(tx: Transaction, now: Date): Promise<void> {
  const expiredBefore = new Date(now.getTime() - EXPIRES_AFTER_MS)
  await tx.delete(signInFailure).where(lt(signInFailure.last_at, expiredBefore))
}
