import { lt, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Database, Transaction, Work } from '../db/database.ts'
import { isLockTimeout } from '../db/database-errors.ts'
import { BATCH_ROWS, deleteInBatches } from '../db/delete-in-batches.ts'
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
    (await createPartitions(database, nowMs, signal)) &&
    (await dropPartitionsBefore(database, oldestMs))

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
async function createPartitions(
  database: Database,
  nowMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const currentWeekMs = findWeekStart(nowMs)
  for (let week = 0; week < PARTITIONED_WEEKS; week += 1) {
    if (!(await createPartition(database, currentWeekMs + week * WEEK_MS, signal))) return false
  }
  return true
}

/**
 * Creates the partition of a week, and moves the events of the week from the default partition into
 * it. Returns false if the table is in use.
 *
 * There may be very many events if the management service was stopped for weeks. They are moved in
 * batches, the newest first. Each batch is a transaction that extends the partition to an earlier
 * time, so that all events are visible at any time, and an interrupted move continues where it
 * stopped.
 */
async function createPartition(
  database: Database,
  weekMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted()
    const extension = await database.system('partitions', tx => findExtension(tx, weekMs), {
      isPlannedAnew: true,
    })
    if (!extension) return true
    if (!(await changePartitions(database, tx => extendPartition(tx, extension)))) return false
  }
}

/** A part of a week that is added to the start of the partition of the week. In epoch ms. */
interface Extension {
  weekMs: number
  fromMs: number
  /** The present start of the partition. The end of the week if the partition does not exist. */
  toMs: number
}

/**
 * Returns how to extend the partition of a week by about `BATCH_ROWS` events of the default
 * partition, or undefined if it contains the whole week.
 */
async function findExtension(tx: Transaction, weekMs: number): Promise<Extension | undefined> {
  const toMs = (await readPartitionStart(tx, weekMs)) ?? weekMs + WEEK_MS
  if (toMs <= weekMs) return undefined
  const [remaining] = await tx.execute<{ newest: number }>(sql`
    select (extract(epoch from time) * 1000)::float8 as newest
    from event
    where time >= ${toTimestamp(weekMs)} and time < ${toTimestamp(toMs)}
    order by time desc
    offset ${sql.raw(String(BATCH_ROWS))}
    limit 1`)
  if (!remaining) return { weekMs, fromMs: weekMs, toMs }
  // Even if all events of the batch have the same time, the partition grows.
  return { weekMs, fromMs: Math.min(Math.floor(remaining.newest) + 1, toMs - 1), toMs }
}

/** Returns the start of the partition of a week, or undefined if the partition does not exist. */
async function readPartitionStart(tx: Transaction, weekMs: number): Promise<number | undefined> {
  const [partition] = await tx.execute<{ start: number }>(sql`
    select
      (extract(epoch from substring(
        pg_get_expr(relpartbound, oid) from 'FROM [(]''([^'']+)'
      )::timestamptz) * 1000)::float8 as start
    from pg_class
    where oid = to_regclass(${toPartitionName(weekMs)})`)
  return partition?.start
}

/** Creates the partition of a week, or extends it, and moves the events into it. */
async function extendPartition(
  tx: Transaction,
  { weekMs, fromMs, toMs }: Extension,
): Promise<void> {
  // Events that arrive meanwhile wait, and go into the extended partition.
  await tx.execute(sql`lock table event in access exclusive mode`)
  const startMs = await readPartitionStart(tx, weekMs)
  // Another service may have extended it in the meantime.
  if ((startMs ?? weekMs + WEEK_MS) !== toMs) return

  const inExtension = sql`time >= ${toTimestamp(fromMs)} and time < ${toTimestamp(toMs)}`
  // A batch is small, and must also succeed on a slow disk.
  await tx.execute(sql`set local statement_timeout = 0`)
  await tx.execute(sql`
    create temporary table moved_event on commit drop as select * from event where false`)
  await tx.execute(sql`
    with moved as (delete from event where ${inExtension} returning *)
    insert into moved_event select * from moved`)

  const partition = sql.identifier(toPartitionName(weekMs))
  const bounds = sql.raw(
    `for values from (${toLiteral(fromMs)}) to (${toLiteral(weekMs + WEEK_MS)})`,
  )
  if (startMs === undefined) {
    await tx.execute(sql`create table ${partition} partition of event ${bounds}`)
    await tx.execute(sql`
      alter table ${partition} enable row level security, force row level security`)
  } else {
    await tx.execute(sql`alter table event detach partition ${partition}`)
    await tx.execute(sql`alter table event attach partition ${partition} ${bounds}`)
  }
  await tx.execute(sql`insert into event select * from moved_event`)
}

/** Returns a time as a literal, because the bounds of a partition cannot be parameters. */
const toLiteral = (timeMs: number) => `'${new Date(timeMs).toISOString()}'`

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

/** Returns the name of the partition of a week, such as `event_2026_01_05` for its first day. */
const toPartitionName = (weekMs: number) =>
  `event_${new Date(weekMs).toISOString().slice(0, 10).replaceAll('-', '_')}`

/** Returns the end of the week of a partition in epoch ms. */
function parsePartitionEnd(name: string): number {
  const startDate = name.slice('event_'.length).replaceAll('_', '-')
  return Date.parse(startDate) + WEEK_MS
}
