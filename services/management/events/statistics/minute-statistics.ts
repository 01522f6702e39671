import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { statisticMinute } from '../../db/schema/index.ts'
import type { Contribution } from './contribution.ts'
import { MINUTE_MS } from './samples.ts'

/** Rows of one insert, which has a parameter for each column. Postgres accepts 65,535 parameters. */
const MAX_INSERT_ROWS = 1000

export interface TimedContribution {
  channel_id: string
  /** Epoch ms. */
  timeMs: number
  contribution: Contribution
}

type MinuteRow = typeof statisticMinute.$inferInsert

/** Adds contributions, in order of arrival, to the statistics of their minutes. */
export async function addToMinutes(
  tx: Transaction,
  contributions: readonly TimedContribution[],
): Promise<void> {
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
}

function sumByMinute(contributions: readonly TimedContribution[]): MinuteRow[] {
  const rows = new Map<string, MinuteRow>()
  for (const { channel_id, timeMs, contribution } of contributions) {
    const minuteMs = Math.floor(timeMs / MINUTE_MS) * MINUTE_MS
    const time = new Date(timeMs)
    for (const [key, value] of Object.entries(contribution)) {
      const id = `${channel_id} ${key} ${minuteMs}`
      const row = rows.get(id)
      if (!row) {
        const minute = new Date(minuteMs)
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
  // A fixed order prevents deadlocks between concurrent inserts.
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
