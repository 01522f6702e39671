import { isIPv6 } from 'node:net'
import { EyrieError } from '@eyrie/contract'
import { eq, lt, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { signInFailure } from '../db/schema/index.ts'

/** After so many attempts there is a wait, which doubles with each further one. */
interface Limit {
  free: number
  firstMs: number
  mostMs: number
}

const MINUTE_MS = 60_000
/**
 * An account is guarded against guessing (NIST SP 800-63B, 3.2.2 allows 100 failures); an address, behind which many people
 * and the programs of a whole site may be, against trying accounts, and against filling the table of users.
 */
const limits = {
  account: { free: 10, firstMs: 1_000, mostMs: 15 * MINUTE_MS },
  address: { free: 300, firstMs: 1_000, mostMs: 15 * MINUTE_MS },
  register: { free: 1_000, firstMs: 1_000, mostMs: 15 * MINUTE_MS },
} satisfies Record<string, Limit>
/** Without any attempt for so long, all is forgotten. */
const FORGOTTEN_AFTER_MS = 30 * MINUTE_MS

export type Limited = keyof typeof limits

/** What is counted: an account by its e-mail address (whether or not there is one), or where a request comes from. */
export interface Subject {
  kind: Limited
  name: string
}

/** Too many attempts; `retryAfter` in seconds. It is said of accounts that do not exist, too. */
export class TooManyAttempts extends EyrieError {
  readonly retryAfter: number

  constructor(waitMs: number) {
    const seconds = Math.ceil(waitMs / 1000)
    super('rights', `there were too many attempts: try again in ${seconds} s`)
    this.retryAfter = seconds
  }
}

/**
 * Counts an attempt, before it is known whether it fails, so that attempts side by side are counted too. One that comes
 * too early is not counted. Throws TooManyAttempts.
 */
export async function countAttempt(tx: Transaction, { kind, name }: Subject, now: Date): Promise<void> {
  const { free, firstMs, mostMs } = limits[kind]
  const subject = `${kind}:${name}`
  await tx.insert(signInFailure).values({ subject, failures: 0, last_at: now }).onConflictDoNothing()
  const [known] = await tx
    .select()
    .from(signInFailure)
    .where(eq(signInFailure.subject, subject))
    .for('update')
  const waitMs = (known?.blocked_until?.getTime() ?? 0) - now.getTime()
  if (waitMs > 0) throw new TooManyAttempts(waitMs)
  const isForgotten = !known || now.getTime() - known.last_at.getTime() > FORGOTTEN_AFTER_MS
  const failures = isForgotten ? 1 : known.failures + 1
  const blockedMs = failures < free ? 0 : Math.min(mostMs, firstMs * 2 ** Math.min(failures - free, 20))
  const blocked_until = blockedMs > 0 ? new Date(now.getTime() + blockedMs) : null
  await tx
    .update(signInFailure)
    .set({ failures, last_at: now, blocked_until })
    .where(eq(signInFailure.subject, subject))
}

/** The attempt was none to be counted: with an account, nothing remains; with an address, those before it do. */
export async function forgive(tx: Transaction, { kind, name }: Subject): Promise<void> {
  const subject = eq(signInFailure.subject, `${kind}:${name}`)
  if (kind === 'account') await tx.delete(signInFailure).where(subject)
  else
    await tx
      .update(signInFailure)
      .set({ failures: sql`greatest(${signInFailure.failures} - 1, 0)`, blocked_until: null })
      .where(subject)
}

/** Removes what counts no longer. */
export async function forgetOldAttempts(tx: Transaction, now: Date): Promise<void> {
  await tx
    .delete(signInFailure)
    .where(lt(signInFailure.last_at, new Date(now.getTime() - FORGOTTEN_AFTER_MS)))
}

/** Whom an address belongs to: with IPv6, a /64 is given to one and the same. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const parts = (text: string) => text.split(':').filter(Boolean)
  const missing = tail === undefined ? 0 : 8 - parts(head).length - parts(tail).length
  const all = [...parts(head), ...Array<string>(missing).fill('0'), ...parts(tail ?? '')]
  return `${all.slice(0, 4).join(':')}::/64`
}
