import { lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
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
 * Maintains the weekly partitions of the table `event`: creates partitions for the current and
 * the coming weeks, and drops partitions in which all events are older than the retention. Deletes
 * all other expired events and statistics too. `now` is in epoch ms.
 *
 * Events of weeks without a partition are stored in the default partition, so that no event is
 * rejected because of its time. They move to the partition of their week when it is created.
 */
export async function maintainPartitions(
  database: Database,
  now: number,
  retentionMs: number,
): Promise<void> {
  const currentWeekMs = findWeekStart(now)
  for (let week = 0; week < PARTITIONED_WEEKS; week += 1) {
    await database.system('partitions', tx => createPartition(tx, currentWeekMs + week * WEEK_MS))
  }

  const oldestMs = now - retentionMs
  await database.system('retention', async tx => {
    for (const name of await findPartitionsBefore(tx, oldestMs)) {
      await tx.execute(sql`drop table ${sql.identifier(name)}`)
    }
    await deleteRowsBefore(tx, oldestMs)
  })
}

/** Deletes events and statistics that are older than a time (epoch ms). */
async function deleteRowsBefore(tx: Transaction, timeMs: number): Promise<void> {
  // These events are in the oldest remaining partition and in the default partition.
  await tx.delete(event).where(lt(event.time, new Date(timeMs)))
  await tx.delete(statisticMinute).where(lt(statisticMinute.minute, new Date(timeMs)))
  // An hour is deleted when its last minute is older than the time.
  await tx.delete(statisticHour).where(lt(statisticHour.hour, new Date(timeMs - HOUR_MS)))
}

/** Returns the start of the week of a time, both in epoch ms. Weeks start on Monday, 00:00 UTC. */
function findWeekStart(timeMs: number): number {
  const weeks = Math.floor((timeMs - FIRST_MONDAY_MS) / WEEK_MS)
  return FIRST_MONDAY_MS + weeks * WEEK_MS
}

async function createPartition(tx: Transaction, weekStartMs: number): Promise<void> {
  // Moving events from the default partition may take long if the management service
  // was stopped for weeks.
  await tx.execute(sql`set local statement_timeout = 0`)
  await tx.execute(sql`select create_event_partition(${toTimestamp(weekStartMs)})`)
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
