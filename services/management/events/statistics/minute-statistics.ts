import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { statisticMinute } from '../../db/schema/index.ts'
import type { Contribution } from './contribution.ts'
import { MINUTE_MS } from './samples.ts'

/** Rows of one statement; a parameter each column. */
const MOST_ROWS = 1000

export interface Added {
  channel_id: string
  /** Epoch ms. */
  at: number
  added: Contribution
}

type Minute = typeof statisticMinute.$inferInsert

/** Adds what messages contribute, in the order of their coming, to the minutes of their times. */
export async function addToMinutes(tx: Transaction, contributions: readonly Added[]): Promise<void> {
  const minutes = gather(contributions)
  for (let from = 0; from < minutes.length; from += MOST_ROWS)
    await tx
      .insert(statisticMinute)
      .values(minutes.slice(from, from + MOST_ROWS))
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

function gather(contributions: readonly Added[]): Minute[] {
  const minutes = new Map<string, Minute>()
  for (const { channel_id, at, added } of contributions) {
    const minute = new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS)
    for (const [key, value] of Object.entries(added)) {
      const name = `${channel_id} ${key} ${minute.getTime()}`
      const so = minutes.get(name)
      const isNewest = !so || at >= so.last_at.getTime()
      minutes.set(name, {
        channel_id,
        key,
        minute,
        sum: (so?.sum ?? 0) + value,
        count: (so?.count ?? 0) + 1,
        last: isNewest ? value : so.last,
        last_at: isNewest ? new Date(at) : so.last_at,
      })
    }
  }
  // Always in the same order, so that two who add do not wait for each other.
  return [...minutes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, minute]) => minute)
}
