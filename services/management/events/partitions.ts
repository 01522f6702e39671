import { lt, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { event, statisticMinute } from '../db/schema/index.ts'
import { at } from './statistics/samples.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
/** A Monday, midnight UTC. */
const MONDAY = Date.UTC(1970, 0, 5)
/** Weeks from the present one on for which there is a partition before they begin. */
const WEEKS_AHEAD = 4

/**
 * Has a partition of events for each week that is near, and drops those in which everything is older than the retention.
 * What belongs to no week stands in the default partition, so that nothing is ever refused for its time; it moves into
 * its week once there is a partition for it.
 */
export async function keepPartitions(database: Database, now: number, retentionMs: number): Promise<void> {
  const present = MONDAY + Math.floor((now - MONDAY) / WEEK_MS) * WEEK_MS
  const oldest = now - retentionMs
  for (let ahead = 0; ahead < WEEKS_AHEAD; ahead += 1)
    await database.system('partitions', tx => createPartition(tx, present + ahead * WEEK_MS))
  await database.system('retention', async tx => {
    for (const name of await weeksBefore(tx, oldest))
      await tx.execute(sql`drop table ${sql.identifier(name)}`)
    // What came so late that its week was gone, and the rest of the week in which the retention ends.
    await tx.delete(event).where(lt(event.time, new Date(oldest)))
    await tx.delete(statisticMinute).where(lt(statisticMinute.minute, new Date(oldest)))
  })
}

async function createPartition(tx: Transaction, week: number): Promise<void> {
  // Many events may have to move, if management was not running for weeks.
  await tx.execute(sql`set local statement_timeout = 0`)
  await tx.execute(sql`select create_event_partition(${at(week)})`)
}

/** The partitions that end before a moment, epoch ms. */
async function weeksBefore(tx: Transaction, moment: number): Promise<string[]> {
  const rows = await tx.execute<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'event'::regclass and c.relname <> 'event_other'`)
  const end = (name: string) => Date.parse(name.slice('event_'.length).replaceAll('_', '-')) + WEEK_MS
  return rows.map(({ name }) => name).filter(name => end(name) <= moment)
}
