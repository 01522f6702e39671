import { EyrieError } from '@eyrie/contract'
import { eq, lt, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { signInFailure } from '../db/schema/index.ts'

// Limits how often clients can try passwords and codes, and register users. The database counts the
// attempts of each subject: of a network, or of a network on one account. Attempts on an account
// from all networks together are not limited, because anyone could then lock out its user by
// failing on purpose. Codes are the exception: to try one, a client needs the password.

interface Limit {
  /** The attempt with this number and each further one block the subject for some time. */
  blocksFromAttempt: number
  firstBlockMs: number
  /** Each block is twice as long as the previous one, up to this time. */
  maxBlockMs: number
  /** All attempts expire this long after the last of them. */
  expiresAfterMs: number
  /** Whether they expire that long after the first of them instead. */
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
  account: { blocksFromAttempt: 10, ...SIGN_IN_TIMES },
  /** Sign-ins from a network: prevents trying a password with many accounts. */
  address: { blocksFromAttempt: 300, ...SIGN_IN_TIMES },
  /**
   * Codes for an account, from all networks: codes are so short that many networks
   * together could guess one.
   */
  code: { blocksFromAttempt: 30, ...SIGN_IN_TIMES },
  /**
   * Registrations from a network in an hour: prevents filling the user table, and probing for
   * registered addresses.
   */
  register: {
    blocksFromAttempt: 10,
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
  const previous = await lockAttempts(tx, subject, now)
  const waitMs = (previous?.blocked_until?.getTime() ?? 0) - now.getTime()
  if (waitMs > 0) throw new TooManyAttempts(waitMs)

  await tx
    .update(signInFailure)
    .set(addAttempt(previous, LIMITS[kind], now))
    .where(eq(signInFailure.subject, subject))
}

/** The attempts of a subject. `failures` is the number of all attempts that were not forgiven. */
type Attempts = typeof signInFailure.$inferSelect

/**
 * Returns the attempts of a subject, and locks them until the transaction ends. Returns undefined
 * if another transaction has forgiven them at this moment.
 */
async function lockAttempts(
  tx: Transaction,
  subject: string,
  now: Date,
): Promise<Attempts | undefined> {
  // Only an existing row can be locked.
  await tx
    .insert(signInFailure)
    .values({ subject, failures: 0, last_at: now })
    .onConflictDoNothing()
  const [attempts] = await tx
    .select()
    .from(signInFailure)
    .where(eq(signInFailure.subject, subject))
    .for('update')
  return attempts
}

/** Returns the attempts of a subject after a further one. */
function addAttempt(
  previous: Attempts | undefined,
  limit: Limit,
  now: Date,
): Omit<Attempts, 'subject'> {
  const isExpired = !previous || now.getTime() - previous.last_at.getTime() >= limit.expiresAfterMs
  const attempts = isExpired ? 1 : previous.failures + 1
  // A fixed period begins with its first attempt.
  const lastAt = !isExpired && limit.isFixedPeriod ? previous.last_at : now
  const blockMs = toBlockMs(limit, attempts)
  return {
    failures: attempts,
    last_at: lastAt,
    blocked_until: blockMs > 0 ? new Date(lastAt.getTime() + blockMs) : null,
  }
}

/** Returns for how long the attempt with this number blocks its subject. */
function toBlockMs(
  { blocksFromAttempt, firstBlockMs, maxBlockMs }: Limit,
  attempt: number,
): number {
  if (attempt < blocksFromAttempt) return 0
  return Math.min(maxBlockMs, firstBlockMs * 2 ** (attempt - blocksFromAttempt))
}

/**
 * Removes a successful attempt from the count. For an account or its codes, all earlier attempts
 * are removed too. For a network (`address`) they still count: an attacker may have an account of
 * their own, and sign in to it between two attempts on others.
 */
export async function forgiveAttempt(tx: Transaction, { kind, name }: LimitSubject): Promise<void> {
  const whereSubject = eq(signInFailure.subject, `${kind}:${name}`)
  if (kind === 'address') {
    await tx
      .update(signInFailure)
      .set({ failures: sql`greatest(${signInFailure.failures} - 1, 0)`, blocked_until: null })
      .where(whereSubject)
  } else {
    await tx.delete(signInFailure).where(whereSubject)
  }
}

/** Removes all attempts on an account, from all networks. `email` is normalized. */
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
