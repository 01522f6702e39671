import { lt, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Database, Transaction, Work } from '../db/database.ts'
import { isLockTimeout } from '../db/database-errors.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { event, statisticHour, statisticMinute } from '../db/schema/index.ts'
import { toTimestamp } from '../db/sql-values.ts'
import { HOUR_MS } from './statistics/samples.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
/** The first Monday of epoch time, 00:00 UTC. */
const FIRST_MONDAY_MS = Date.UTC(1970, 0, 5)
/** Stores the events of weeks without a partition. */
const DEFAULT_PARTITION = 'event_other'
/** Number of weekly partitions that are created in advance, including the current week. */
const PARTITIONED_WEEKS = 4

/**
 * Time to wait for exclusive access to the table `event`. All other queries of the table wait
 * meanwhile.
 */
const LOCK_TIMEOUT_MS = 1_000

export interface PartitionMaintenance {
  /** Epoch ms. */
  nowMs: number
  /** What is older has expired. Epoch ms. */
  oldestMs: number
  signal: AbortSignal
}

/**
 * Maintains the weekly partitions of the table `event`: creates partitions for the current and
 * the coming weeks, and drops partitions in which all events are older than the retention. Deletes
 * all other expired events and statistics too. Returns whether all is done: partitions of
 * a table that is in use, for example by a backup, are left to the next run.
 *
 * Events of weeks without a partition are stored in the default partition, so that no event is
 * rejected because of its time. They move to the partition of their week when it is created.
 */
export async function maintainPartitions(
  database: Database,
  { nowMs, oldestMs, signal }: PartitionMaintenance,
): Promise<boolean> {
  const deleteBefore = (table: PgTable, column: PgColumn, timeMs: number) =>
    deleteInBatches(database, table, lt(column, new Date(timeMs)), signal)
  const isDone =
    (await createPartitions(database, nowMs)) && (await dropPartitionsBefore(database, oldestMs))

  // The rows of a partition that could not be dropped are not deleted one by one: there may be
  // millions. The other expired events are in the oldest remaining partition and in the default
  // one.
  if (isDone) await deleteBefore(event, event.time, oldestMs)
  await deleteBefore(statisticMinute, statisticMinute.minute, oldestMs)
  // An hour is deleted when its last minute is older than the time.
  await deleteBefore(statisticHour, statisticHour.hour, oldestMs - HOUR_MS)
  return isDone
}

/** Returns the start of the week of a time, both in epoch ms. Weeks start on Monday, 00:00 UTC. */
function findWeekStart(timeMs: number): number {
  const weeks = Math.floor((timeMs - FIRST_MONDAY_MS) / WEEK_MS)
  return FIRST_MONDAY_MS + weeks * WEEK_MS
}

/** Creates missing partitions. Returns false if the table is in use. */
async function createPartitions(database: Database, nowMs: number): Promise<boolean> {
  const currentWeekMs = findWeekStart(nowMs)
  for (let week = 0; week < PARTITIONED_WEEKS; week += 1) {
    const weekStart = toTimestamp(currentWeekMs + week * WEEK_MS)
    const isCreated = await changePartitions(database, async tx => {
      // Moving events from the default partition may take long if the management service
      // was stopped for weeks.
      await tx.execute(sql`set local statement_timeout = 0`)
      await tx.execute(sql`select create_event_partition(${weekStart})`)
    })
    if (!isCreated) return false
  }
  return true
}

/** Drops the partitions that end at or before a time. Returns false if the table is in use. */
async function dropPartitionsBefore(database: Database, timeMs: number): Promise<boolean> {
  const names = await database.system('partitions', tx => findPartitionsBefore(tx, timeMs))
  for (const name of names) {
    // Another run may have dropped it in the meantime.
    const drop = sql`drop table if exists ${sql.identifier(name)}`
    if (!(await changePartitions(database, tx => tx.execute(drop)))) return false
  }
  return true
}

/**
 * Runs work that needs exclusive access to the table `event`, in a transaction of its own, so that
 * ingest and readers wait only briefly. Returns false if the table is in use.
 */
async function changePartitions(database: Database, work: Work<unknown>): Promise<boolean> {
  try {
    await database.system('partitions', async tx => {
      await tx.execute(sql`set local lock_timeout = ${sql.raw(String(LOCK_TIMEOUT_MS))}`)
      await work(tx)
    })
    return true
  } catch (error) {
    if (isLockTimeout(error)) return false
    throw error
  }
}

/** Returns the names of the partitions that end at or before a time (epoch ms). */
async function findPartitionsBefore(tx: Transaction, timeMs: number): Promise<string[]> {
  const rows = await tx.execute<{ name: string }>(sql`
    select partition.relname as name
    from pg_inherits
    join pg_class partition on partition.oid = pg_inherits.inhrelid
    where pg_inherits.inhparent = 'event'::regclass
      and partition.relname <> ${DEFAULT_PARTITION}`)
  return rows.map(({ name }) => name).filter(name => parsePartitionEnd(name) <= timeMs)
}

/**
 * Returns the end of a partition in epoch ms. Its name, such as `event_2026_01_05`, contains
 * the start of its week.
 */
function parsePartitionEnd(name: string): number {
  const startDate = name.slice('event_'.length).replaceAll('_', '-')
  return Date.parse(startDate) + WEEK_MS
}
