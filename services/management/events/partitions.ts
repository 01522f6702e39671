import { lt, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Database, Transaction, Work } from '../db/database.ts'
import { isLockTimeout } from '../db/database-errors.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { event, statisticHour, statisticMinute } from '../db/schema/index.ts'
import { toTimestamp } from '../db/sql-values.ts'
import {
  findWeekStart,
  LIST_PARTITIONS,
  parseFirstDay,
  toCreateStatements,
  toPartitionName,
  WEEK_MS,
} from '../db/weekly-partitions.ts'
import { HOUR_MS } from './statistics/samples.ts'

/** Number of weekly partitions that are created in advance, including the current week. */
const PARTITIONED_WEEKS = 4

/** Maximum number of events that move into a new partition, which takes about half a second. */
const MAX_MOVED_EVENTS = 5_000

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
 * rejected because of its time. They move to the partition of their week when it is created, unless
 * there are very many.
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

/** Creates missing partitions. Returns false if the table is in use. */
async function createPartitions(database: Database, nowMs: number): Promise<boolean> {
  const currentWeekMs = findWeekStart(nowMs)
  for (let week = 0; week < PARTITIONED_WEEKS; week += 1) {
    if (!(await createPartition(database, currentWeekMs + week * WEEK_MS))) return false
  }
  return true
}

/** Creates the partition of a week if it is missing. Returns false if the table is in use. */
async function createPartition(database: Database, weekMs: number): Promise<boolean> {
  const startMs = await database.system('partitions', tx => findPartitionStart(tx, weekMs), {
    isPlannedAnew: true,
  })
  if (startMs === undefined) return true
  return changePartitions(database, tx => addPartition(tx, weekMs, startMs))
}

/**
 * Returns when the partition of a week is to start, in epoch ms, or undefined if it exists.
 *
 * That is the start of the week, unless the default partition has very many of its events, for
 * example because partitions could not be created for weeks. Then only the newest of them move, and
 * the partition starts with them: ingest and readers wait while events move.
 */
async function findPartitionStart(tx: Transaction, weekMs: number): Promise<number | undefined> {
  if (await hasPartition(tx, weekMs)) return undefined
  const endMs = weekMs + WEEK_MS
  const [remaining] = await tx.execute<{ newest: number }>(sql`
    select (extract(epoch from time) * 1000)::float8 as newest
    from event
    where time >= ${toTimestamp(weekMs)} and time < ${toTimestamp(endMs)}
    order by time desc
    offset ${sql.raw(String(MAX_MOVED_EVENTS))}
    limit 1`)
  if (!remaining) return weekMs
  return Math.min(Math.floor(remaining.newest) + 1, endMs - 1)
}

async function hasPartition(tx: Transaction, weekMs: number): Promise<boolean> {
  const [partition] = await tx.execute(sql`
    select from pg_class where oid = to_regclass(${toPartitionName(weekMs)})`)
  return partition !== undefined
}

/** Creates the partition of a week, and moves the events into it that are in the default one. */
async function addPartition(tx: Transaction, weekMs: number, startMs: number): Promise<void> {
  // Events that arrive meanwhile wait, and go into the new partition.
  await tx.execute(sql`lock table event in access exclusive mode`)
  // Another service may have created it in the meantime.
  if (await hasPartition(tx, weekMs)) return

  // Must also succeed on a slow disk: Postgres scans the default partition.
  await tx.execute(sql`set local statement_timeout = 0`)
  await tx.execute(sql`
    create temporary table moved_event on commit drop as select * from event where false`)
  await tx.execute(sql`
    with moved as (
      delete from event
      where time >= ${toTimestamp(startMs)} and time < ${toTimestamp(weekMs + WEEK_MS)}
      returning *
    )
    insert into moved_event select * from moved`)
  for (const statement of toCreateStatements(weekMs, startMs)) {
    await tx.execute(sql.raw(statement))
  }
  await tx.execute(sql`insert into event select * from moved_event`)
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
  const rows = await tx.execute<{ name: string }>(sql.raw(LIST_PARTITIONS))
  const isBefore = (name: string) => Date.parse(parseFirstDay(name)) + WEEK_MS <= timeMs
  return rows.map(({ name }) => name).filter(isBefore)
}
