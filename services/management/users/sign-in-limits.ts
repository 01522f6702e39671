import { EyrieError } from '@eyrie/contract'
import { eq, lt, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { signInFailure } from '../db/schema/index.ts'

// Limits how often clients can try passwords and codes, and register users. The database counts the
// attempts of each subject: of a network, or of a network for one account. No limit is on an
// account alone, because anyone could lock out its user by failing on purpose. Codes are the
// exception: to try one, a client needs the password of the account.

interface Limit {
  /** The attempt with this number and each further one block the subject for some time. */
  freeAttempts: number
  firstBlockMs: number
  /** Each block is twice as long as the previous one, up to this time. */
  maxBlockMs: number
  /** Attempts no longer count when there was none for this time. */
  expiresAfterMs: number
  /**
   * Whether attempts expire when this time has passed since the first of them, even if there were
   * others in the meantime.
   */
  isFixedPeriod?: boolean
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SIGN_IN_TIMES = {
  firstBlockMs: 1_000,
  maxBlockMs: 15 * MINUTE_MS,
  expiresAfterMs: 30 * MINUTE_MS,
}

/**
 * A network has higher limits than an account, because all users of a site may share an address.
 */
const LIMITS = {
  /** Sign-ins to an account from a network: prevents guessing its password. */
  account: { freeAttempts: 10, ...SIGN_IN_TIMES },
  /** Sign-ins from a network: prevents trying a password with many accounts. */
  address: { freeAttempts: 300, ...SIGN_IN_TIMES },
  /**
   * Codes for an account, from all networks: codes are so short that many networks
   * together could guess one.
   */
  code: { freeAttempts: 30, ...SIGN_IN_TIMES },
  /**
   * Registrations from a network in an hour: prevents filling the user table, and probing for
   * registered addresses.
   */
  register: {
    freeAttempts: 10,
    firstBlockMs: HOUR_MS,
    maxBlockMs: HOUR_MS,
    expiresAfterMs: HOUR_MS,
    isFixedPeriod: true,
  },
} satisfies Record<string, Limit>

export type LimitKind = keyof typeof LIMITS

/** Whose attempts are counted. */
export interface LimitSubject {
  kind: LimitKind
  /**
   * - `address`, `register`: the network of the client.
   * - `account`: the normalized e-mail address, a space, and the network.
   * - `code`: the id of the user.
   */
  name: string
}

/** Returns the subjects of a sign-in. The account need not exist. */
export const listSignInSubjects = (email: string, network: string): LimitSubject[] => [
  { kind: 'address', name: network },
  { kind: 'account', name: `${email} ${network}` },
]

/**
 * The subject is blocked for some time. Accounts that do not exist are blocked too, so that
 * this reveals nothing.
 */
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
 * Counts an attempt. Call this before the attempt, so that concurrent attempts are limited
 * too, and `forgiveAttempt` after success. While the subject is blocked, throws
 * `TooManyAttempts` and counts nothing.
 */
export async function countAttempt(
  tx: Transaction,
  { kind, name }: LimitSubject,
  now: Date,
): Promise<void> {
  const subject = `${kind}:${name}`
  await tx
    .insert(signInFailure)
    .values({ subject, failures: 0, last_at: now })
    .onConflictDoNothing()
  const [previous] = await tx
    .select()
    .from(signInFailure)
    .where(eq(signInFailure.subject, subject))
    .for('update')

  const blockedUntilMs = previous?.blocked_until?.getTime() ?? 0
  const waitMs = blockedUntilMs - now.getTime()
  if (waitMs > 0) throw new TooManyAttempts(waitMs)

  const limit: Limit = LIMITS[kind]
  const isExpired = !previous || now.getTime() - previous.last_at.getTime() >= limit.expiresAfterMs
  const failures = isExpired ? 1 : previous.failures + 1
  // A fixed period begins with its first attempt.
  const lastAt = previous && limit.isFixedPeriod && failures > 1 ? previous.last_at : now
  const blockMs = toBlockMs(limit, failures)
  const blockedUntil = blockMs > 0 ? new Date(lastAt.getTime() + blockMs) : null

  await tx
    .update(signInFailure)
    .set({ failures, last_at: lastAt, blocked_until: blockedUntil })
    .where(eq(signInFailure.subject, subject))
}

/** Returns for how long a subject is blocked after this number of failures. */
function toBlockMs({ freeAttempts, firstBlockMs, maxBlockMs }: Limit, failures: number): number {
  if (failures < freeAttempts) return 0
  const blockMs = firstBlockMs * 2 ** (failures - freeAttempts)
  return Math.min(maxBlockMs, blockMs)
}

/**
 * Removes a successful attempt from the count. For an account or its codes, all earlier attempts
 * are removed too. For a network (`address`) they still count: an attacker may have an account of
 * their own, and sign in to it between two attempts on others.
 */
export async function forgiveAttempt(tx: Transaction, { kind, name }: LimitSubject): Promise<void> {
  const matchesSubject = eq(signInFailure.subject, `${kind}:${name}`)
  if (kind !== 'address') {
    await tx.delete(signInFailure).where(matchesSubject)
    return
  }
  await tx
    .update(signInFailure)
    .set({ failures: sql`greatest(${signInFailure.failures} - 1, 0)`, blocked_until: null })
    .where(matchesSubject)
}

/** Clears the failures of an account from all networks. `email` is normalized. */
export async function forgiveAccount(tx: Transaction, email: string): Promise<void> {
  await tx
    .delete(signInFailure)
    .where(sql`starts_with(${signInFailure.subject}, ${`account:${email} `})`)
}

/** Deletes the attempts that no longer count. */
export async function deleteExpiredAttempts(tx: Transaction, now: Date): Promise<void> {
  const maxAgeMs = Math.max(...Object.values(LIMITS).map(({ expiresAfterMs }) => expiresAfterMs))
  const expiredBefore = new Date(now.getTime() - maxAgeMs)
  await tx.delete(signInFailure).where(lt(signInFailure.last_at, expiredBefore))
}
