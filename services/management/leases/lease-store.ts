import { and, eq, inArray, lt, ne, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { engine, lease, managementInstance } from '../db/schema/index.ts'
import { decideLeases } from './decide-leases.ts'

/** The subject of the lease for everything that only one instance does, except following engines. */
export const BACKGROUND = 'background'

/**
 * An instance that has not renewed its row for so long is taken for dead. Another one follows its engines within ten seconds: this,
 * the interval of the renewals, and the connection to the engine.
 */
const ALIVE_S = 5

/**
 * Ends the connection if the transaction waits for this process for so long: a process that has stopped in the middle of a
 * transaction would otherwise lock what its successor needs. Long enough for a busy machine; a process that has ended holds no lock.
 */
const MAX_IDLE_MS = 30_000

/** The leases of an instance after a renewal. */
export interface HeldLeases {
  subjects: ReadonlySet<string>
  /** The subjects to give up: their work has to end before `releaseLeases`. */
  excess: readonly string[]
  /** The ids of all registered engines. */
  engines: ReadonlySet<string>
}

/**
 * Renews the row of an instance, removes instances that no longer run, and claims free leases. All times are those of the database:
 * the clocks of the machines do not matter.
 */
export async function renewLeases(
  tx: Transaction,
  instance: { instance_id: string; host_name: string },
): Promise<HeldLeases> {
  const { instance_id } = instance
  await limitIdleTime(tx)
  const alive_until = sql`clock_timestamp() + ${ALIVE_S} * interval '1 second'`
  await tx
    .insert(managementInstance)
    .values({ ...instance, alive_until })
    .onConflictDoUpdate({ target: managementInstance.instance_id, set: { alive_until } })
  const expired = tx
    .select({ instance_id: managementInstance.instance_id })
    .from(managementInstance)
    .where(
      and(
        ne(managementInstance.instance_id, instance_id),
        lt(managementInstance.alive_until, sql`clock_timestamp()`),
      ),
    )
    .for('update', { skipLocked: true })
  // Their leases disappear with them.
  await tx.delete(managementInstance).where(inArray(managementInstance.instance_id, expired))

  const engines = await tx.select({ engine_id: engine.engine_id }).from(engine).orderBy(engine.engine_id)
  const instances = await tx
    .select({ instance_id: managementInstance.instance_id })
    .from(managementInstance)
    .orderBy(managementInstance.instance_id)
  const rows = await tx.select().from(lease)
  const subjects = engines.map(({ engine_id }) => engine_id)
  const holders = new Map(rows.map(row => [row.subject, row.instance_id]))
  const { claim, release } = decideLeases({
    instance_id,
    instances: instances.map(row => row.instance_id),
    subjects,
    holders,
  })
  const wanted = holders.has(BACKGROUND) ? claim : [BACKGROUND, ...claim]
  const claimed = await claimLeases(tx, instance_id, wanted)

  const held = rows.filter(row => row.instance_id === instance_id).map(({ subject }) => subject)
  return { subjects: new Set([...held, ...claimed]), excess: release, engines: new Set(subjects) }
}

/** Claims leases that are still free. Returns their subjects. */
async function claimLeases(tx: Transaction, instance_id: string, subjects: readonly string[]) {
  if (subjects.length === 0) return []
  const claimed = await tx
    .insert(lease)
    // Sorted, so that two instances cannot deadlock.
    .values(subjects.toSorted().map(subject => ({ subject, instance_id })))
    .onConflictDoNothing()
    .returning({ subject: lease.subject })
  return claimed.map(({ subject }) => subject)
}

/** Gives up leases, so that other instances can claim them. */
export async function releaseLeases(
  tx: Transaction,
  instance_id: string,
  subjects: readonly string[],
): Promise<void> {
  await tx.delete(lease).where(and(eq(lease.instance_id, instance_id), inArray(lease.subject, [...subjects])))
}

/** Gives up everything, because the instance ends. */
export async function removeInstance(tx: Transaction, instance_id: string): Promise<void> {
  await tx.delete(managementInstance).where(eq(managementInstance.instance_id, instance_id))
}

/**
 * Returns whether an instance holds a lease, at the start of a transaction that must not happen otherwise. The transaction does not
 * lock the lease, so that a process that has stopped does not delay its successor.
 */
export async function holdsLease(tx: Transaction, instance_id: string, subject: string): Promise<boolean> {
  await limitIdleTime(tx)
  const [row] = await tx
    .select({ subject: lease.subject })
    .from(lease)
    .where(and(eq(lease.subject, subject), eq(lease.instance_id, instance_id)))
  return row !== undefined
}

const limitIdleTime = (tx: Transaction) =>
  tx.execute(sql`select set_config('idle_in_transaction_session_timeout', ${String(MAX_IDLE_MS)}, true)`)
