import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { statisticMinute } from '../../db/schema/index.ts'
import type { AddedCount } from '../../feed/live-counts.ts'
import type { Contribution } from './contribution.ts'
import { MINUTE_MS } from './samples.ts'

/** Maximum number of rows in one insert. Each column of a row is a parameter, and Postgres accepts 65,535 parameters. */
const MAX_INSERT_ROWS = 1000

/** The values that a message of an engine adds to the statistics of a channel, by statistic key. */
export interface TimedContribution {
  channel_id: string
  /** Epoch ms. */
  timeMs: number
  contribution: Contribution
}

/**
 * Adds contributions to the statistics of their minutes, from which the API and the alerts compute statistics of longer
 * periods. Contributions are in order of arrival. Resolves to what was added.
 */
export async function addToMinuteStatistics(
  tx: Transaction,
  contributions: readonly TimedContribution[],
): Promise<AddedCount[]> {
  const rows = sumByMinute(contributions)
  for (let from = 0; from < rows.length; from += MAX_INSERT_ROWS)
    await tx
      .insert(statisticMinute)
      .values(rows.slice(from, from + MAX_INSERT_ROWS))
      .onConflictDoUpdate({
        target: [statisticMinute.channel_id, statisticMinute.key, statisticMinute.minute],
        set: {
          sum: sql`${statisticMinute.sum} + excluded.sum`,
          count: sql`${statisticMinute.count} + excluded.count`,
          last: sql`case when excluded.last_at >= ${statisticMinute.last_at} then excluded.last else ${statisticMinute.last} end`,
          last_at: sql`greatest(${statisticMinute.last_at}, excluded.last_at)`,
        },
      })
  return rows
}

/** Merges contributions to the same minute into one row, because one insert may update a row only once. */
function sumByMinute(contributions: readonly TimedContribution[]): AddedCount[] {
  const rows = new Map<string, AddedCount>()
  for (const { channel_id, timeMs, contribution } of contributions) {
    const minute = new Date(Math.floor(timeMs / MINUTE_MS) * MINUTE_MS)
    const time = new Date(timeMs)
    for (const [key, value] of Object.entries(contribution)) {
      const id = `${channel_id} ${key} ${minute.getTime()}`
      const row = rows.get(id)
      if (!row) {
        rows.set(id, { channel_id, key, minute, sum: value, count: 1, last: value, last_at: time })
        continue
      }

      row.sum += value
      row.count += 1
      if (time >= row.last_at) {
        row.last = value
        row.last_at = time
      }
    }
  }

  // All inserts use the same order, so that concurrent inserts cannot deadlock.
  const sortedEntries = [...rows].sort(([idA], [idB]) => (idA < idB ? -1 : 1))
  return sortedEntries.map(([, row]) => row)
}
