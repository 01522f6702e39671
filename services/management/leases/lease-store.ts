import { and, eq, inArray, lt, ne, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { engine, lease, managementInstance } from '../db/schema/index.ts'
import { decideLeases } from './decide-leases.ts'

/** The subject of the lease for the background jobs. All other subjects are ids of engines. */
export const BACKGROUND = 'background'

/**
 * An instance that has not renewed its row for this long counts as dead. This is short enough that
 * another instance is connected to its engines within ten seconds.
 */
const ALIVE_S = 5

/**
 * Postgres ends the connection of a process that has paused in a transaction for this long. The
 * locks of the transaction would block the instance that takes over. A process on a busy machine
 * does not pause for so long.
 */
const MAX_IDLE_MS = 30_000

/** A running management service, which has a row of its own in the database. */
interface Instance {
  instance_id: string
  host_name: string
}

/** The leases of an instance after a renewal. */
export interface HeldLeases {
  subjects: ReadonlySet<string>
  /** The subjects to give up: their work has to end before `releaseLeases`. */
  excess: readonly string[]
  /** The ids of all registered engines. */
  engines: ReadonlySet<string>
}

/**
 * Renews the row of an instance, deletes dead instances, and claims free leases. Only the clock of
 * the database is used, so that the clocks of the machines may differ.
 */
export async function renewLeases(tx: Transaction, instance: Instance): Promise<HeldLeases> {
  const { instance_id } = instance
  await limitIdleTime(tx)
  await recordAlive(tx, instance)
  await deleteDeadInstances(tx, instance_id)

  const instances = await listInstanceIds(tx)
  const engines = await listEngineIds(tx)
  const leases = await tx.select().from(lease)
  const holders = new Map(leases.map(row => [row.subject, row.instance_id]))
  const decision = decideLeases({ instance_id, instances, subjects: engines, holders })
  // The lease for the background jobs is not divided: the first instance that finds it free has it.
  const wanted = holders.has(BACKGROUND) ? decision.claim : [BACKGROUND, ...decision.claim]
  const claimed = await claimLeases(tx, instance_id, wanted)

  const held = leases.filter(row => row.instance_id === instance_id).map(({ subject }) => subject)
  return {
    subjects: new Set([...held, ...claimed]),
    excess: decision.release,
    engines: new Set(engines),
  }
}

async function listInstanceIds(tx: Transaction): Promise<string[]> {
  const rows = await tx
    .select({ instance_id: managementInstance.instance_id })
    .from(managementInstance)
    .orderBy(managementInstance.instance_id)
  return rows.map(({ instance_id }) => instance_id)
}

async function listEngineIds(tx: Transaction): Promise<string[]> {
  const rows = await tx
    .select({ engine_id: engine.engine_id })
    .from(engine)
    .orderBy(engine.engine_id)
  return rows.map(({ engine_id }) => engine_id)
}

async function recordAlive(tx: Transaction, instance: Instance): Promise<void> {
  const aliveUntil = sql`clock_timestamp() + ${ALIVE_S} * interval '1 second'`
  await tx
    .insert(managementInstance)
    .values({ ...instance, alive_until: aliveUntil })
    .onConflictDoUpdate({
      target: managementInstance.instance_id,
      set: { alive_until: aliveUntil },
    })
}

/** Deletes the other instances that are dead. Their leases are deleted with them. */
async function deleteDeadInstances(tx: Transaction, instanceId: string): Promise<void> {
  const dead = tx
    .select({ instance_id: managementInstance.instance_id })
    .from(managementInstance)
    .where(
      and(
        ne(managementInstance.instance_id, instanceId),
        lt(managementInstance.alive_until, sql`clock_timestamp()`),
      ),
    )
    // Another instance may be deleting some of them.
    .for('update', { skipLocked: true })
  await tx.delete(managementInstance).where(inArray(managementInstance.instance_id, dead))
}

/** Claims leases that are still free. Returns their subjects. */
async function claimLeases(
  tx: Transaction,
  instanceId: string,
  subjects: readonly string[],
): Promise<string[]> {
  if (subjects.length === 0) return []
  const claimed = await tx
    .insert(lease)
    // Sorted, so that two instances cannot deadlock.
    .values(subjects.toSorted().map(subject => ({ subject, instance_id: instanceId })))
    .onConflictDoNothing()
    .returning({ subject: lease.subject })
  return claimed.map(({ subject }) => subject)
}

/** Gives up leases, so that other instances can claim them. */
export async function releaseLeases(
  tx: Transaction,
  instanceId: string,
  subjects: readonly string[],
): Promise<void> {
  await tx
    .delete(lease)
    .where(and(eq(lease.instance_id, instanceId), inArray(lease.subject, [...subjects])))
}

/**
 * Records until when the output of engines is stored, if the instance holds their leases. `delays`
 * is how far the output is behind, in ms by engine id. It must be read in this transaction, because
 * the time is reckoned from the start of the transaction.
 */
export async function recordStoredUntil(
  tx: Transaction,
  instanceId: string,
  delays: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = Array.from(delays, ([subject, delayMs]) => ({ subject, delay_ms: delayMs }))
  await tx.execute(sql`
    update lease
    set stored_until = now() - stored.delay_ms * interval '1 ms'
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as stored (
      subject text,
      delay_ms float8
    )
    where lease.subject = stored.subject and lease.instance_id = ${instanceId}`)
}

/** Deletes an instance and its leases. */
export async function removeInstance(tx: Transaction, instanceId: string): Promise<void> {
  await tx.delete(managementInstance).where(eq(managementInstance.instance_id, instanceId))
}

/**
 * Returns whether an instance holds a lease. To be called at the start of a transaction that
 * requires the lease. Does not lock the lease, so that a process that hangs in a transaction does
 * not block the instance that takes over.
 */
export async function holdsLease(
  tx: Transaction,
  instanceId: string,
  subject: string,
): Promise<boolean> {
  await limitIdleTime(tx)
  const [row] = await tx
    .select({ subject: lease.subject })
    .from(lease)
    .where(and(eq(lease.subject, subject), eq(lease.instance_id, instanceId)))
  return row !== undefined
}

const limitIdleTime = (tx: Transaction) =>
  tx.execute(
    sql`select set_config('idle_in_transaction_session_timeout', ${String(MAX_IDLE_MS)}, true)`,
  )
