import { isIPv6 } from 'node:net'
import { EyrieError } from '@eyrie/contract'
import { eq, lt, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { signInFailure } from '../db/schema/index.ts'

/** After `freeAttempts`, every attempt blocks the subject. The first block lasts `firstMs`, each further one twice as long. */
interface Limit {
  freeAttempts: number
  firstMs: number
  maxMs: number
}

const MINUTE_MS = 60_000
/**
 * The account limit prevents guessing one password (NIST SP 800-63B, 3.2.2 allows 100 failures). The address limits prevent
 * trying many accounts and filling the user table; they are higher because a whole site may share one address.
 */
const limits = {
  account: { freeAttempts: 10, firstMs: 1_000, maxMs: 15 * MINUTE_MS },
  address: { freeAttempts: 300, firstMs: 1_000, maxMs: 15 * MINUTE_MS },
  register: { freeAttempts: 1_000, firstMs: 1_000, maxMs: 15 * MINUTE_MS },
} satisfies Record<string, Limit>
/** Attempts are no longer counted after this time without another one. */
const EXPIRES_AFTER_MS = 30 * MINUTE_MS

export type LimitKind = keyof typeof limits

/** Subject of a limit: an account by its e-mail address, whether or not it exists, or the network of a client. */
export interface LimitSubject {
  kind: LimitKind
  name: string
}

/** Too many attempts; `retryAfter` is in seconds. Also thrown for accounts that do not exist. */
export class TooManyAttempts extends EyrieError {
  readonly retryAfter: number

  constructor(waitMs: number) {
    const seconds = Math.ceil(waitMs / 1000)
    super('rights', `too many attempts: try again in ${seconds} s`)
    this.retryAfter = seconds
  }
}

/**
 * Counts an attempt before its outcome is known, so that concurrent attempts are counted too. Throws `TooManyAttempts`, and
 * counts nothing, while the subject is blocked.
 */
export async function countAttempt(tx: Transaction, { kind, name }: LimitSubject, now: Date): Promise<void> {
  const subject = `${kind}:${name}`
  await tx.insert(signInFailure).values({ subject, failures: 0, last_at: now }).onConflictDoNothing()
  const [previous] = await tx
    .select()
    .from(signInFailure)
    .where(eq(signInFailure.subject, subject))
    .for('update')
  const waitMs = (previous?.blocked_until?.getTime() ?? 0) - now.getTime()
  if (waitMs > 0) throw new TooManyAttempts(waitMs)

  const isExpired = !previous || now.getTime() - previous.last_at.getTime() > EXPIRES_AFTER_MS
  const failures = isExpired ? 1 : previous.failures + 1
  const blockMs = toBlockMs(limits[kind], failures)
  const blocked_until = blockMs > 0 ? new Date(now.getTime() + blockMs) : null
  await tx
    .update(signInFailure)
    .set({ failures, last_at: now, blocked_until })
    .where(eq(signInFailure.subject, subject))
}

function toBlockMs({ freeAttempts, firstMs, maxMs }: Limit, failures: number): number {
  if (failures < freeAttempts) return 0
  const doublings = Math.min(failures - freeAttempts, 20)
  return Math.min(maxMs, firstMs * 2 ** doublings)
}

/** Takes back a successful attempt: resets an account, but keeps the earlier failures of an address. */
export async function forgiveAttempt(tx: Transaction, { kind, name }: LimitSubject): Promise<void> {
  const isSubject = eq(signInFailure.subject, `${kind}:${name}`)
  if (kind === 'account') {
    await tx.delete(signInFailure).where(isSubject)
    return
  }
  await tx
    .update(signInFailure)
    .set({ failures: sql`greatest(${signInFailure.failures} - 1, 0)`, blocked_until: null })
    .where(isSubject)
}

/** Deletes attempts that are no longer counted. */
export async function deleteExpiredAttempts(tx: Transaction, now: Date): Promise<void> {
  await tx.delete(signInFailure).where(lt(signInFailure.last_at, new Date(now.getTime() - EXPIRES_AFTER_MS)))
}

/** Returns the network that one client controls: the address itself with IPv4, its /64 prefix with IPv6. */
export function toNetwork(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const split = (text: string) => text.split(':').filter(Boolean)
  const omitted = tail === undefined ? 0 : 8 - split(head).length - split(tail).length
  const groups = [...split(head), ...Array<string>(omitted).fill('0'), ...split(tail ?? '')]
  return `${groups.slice(0, 4).join(':')}::/64`
}
