import { lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { event, statisticMinute } from '../db/schema/index.ts'
import { toTimestamp } from './statistics/samples.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
/** A Monday, 00:00 UTC. */
const FIRST_MONDAY = Date.UTC(1970, 0, 5)
/** Number of weeks, including the current one, that have a partition. */
const WEEKS_AHEAD = 4

/**
 * Creates the weekly partitions of events for the current and the coming weeks, and drops those whose events are all older
 * than the retention. Events of other weeks are stored in the default partition, so none is ever rejected because of its
 * time; creating the partition of a week moves them there.
 */
export async function maintainPartitions(
  database: Database,
  now: number,
  retentionMs: number,
): Promise<void> {
  const currentWeek = FIRST_MONDAY + Math.floor((now - FIRST_MONDAY) / WEEK_MS) * WEEK_MS
  const oldest = now - retentionMs
  for (let week = 0; week < WEEKS_AHEAD; week += 1)
    await database.system('partitions', tx => createPartition(tx, currentWeek + week * WEEK_MS))
  await database.system('retention', async tx => {
    for (const name of await findPartitionsBefore(tx, oldest))
      await tx.execute(sql`drop table ${sql.identifier(name)}`)
    // Expired events of the week in which the retention ends, and late events in the default partition.
    await tx.delete(event).where(lt(event.time, new Date(oldest)))
    await tx.delete(statisticMinute).where(lt(statisticMinute.minute, new Date(oldest)))
  })
}

async function createPartition(tx: Transaction, weekStart: number): Promise<void> {
  // Many events may have to move, if management was not running for weeks.
  await tx.execute(sql`set local statement_timeout = 0`)
  await tx.execute(sql`select create_event_partition(${toTimestamp(weekStart)})`)
}

/** Returns the names of the partitions that end at or before a time (epoch ms). */
async function findPartitionsBefore(tx: Transaction, timeMs: number): Promise<string[]> {
  const rows = await tx.execute<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'event'::regclass and c.relname <> 'event_other'`)
  const parseEnd = (name: string) => Date.parse(name.slice('event_'.length).replaceAll('_', '-')) + WEEK_MS
  return rows.map(({ name }) => name).filter(name => parseEnd(name) <= timeMs)
}
