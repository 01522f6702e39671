import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import type { AddedCount } from '../../feed/live-counts.ts'
import type { Contribution } from './contribution.ts'
import { HOUR_MS, MINUTE_MS } from './samples.ts'

/** The values that a message of an engine adds to the statistics of a channel, by statistic key. */
export interface TimedContribution {
  channel_id: string
  /** Epoch ms. */
  timeMs: number
  contribution: Contribution
}

/**
 * Adds contributions, in order of arrival, to the stored statistics of their minutes and hours. The
 * statistics of longer periods are computed from these. Returns what was added to each minute.
 */
export async function addToRollUps(
  tx: Transaction,
  contributions: readonly TimedContribution[],
): Promise<AddedCount[]> {
  const minutes = sumByMinute(contributions)
  if (minutes.length === 0) return []
  await addTo(tx, 'minute', minutes)
  await addTo(tx, 'hour', sumByHour(minutes))
  return minutes
}

/** Values that were added to a statistic within an hour. */
interface AddedHour extends Omit<AddedCount, 'minute'> {
  hour: Date
}

/**
 * Adds rows to the table of minutes or of hours. All inserts use the same order, so that concurrent
 * ones cannot deadlock.
 */
async function addTo(
  tx: Transaction,
  unit: 'minute' | 'hour',
  rows: readonly (AddedCount | AddedHour)[],
): Promise<void> {
  const table = sql.identifier(`statistic_${unit}`)
  // The column with the start of the minute or hour.
  const time = sql.identifier(unit)
  await tx.execute(sql`
    insert into ${table} as stored (channel_id, key, ${time}, sum, count, last, last_at)
    select channel_id, key, ${time}, sum, count, last, last_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as added (
      channel_id uuid,
      key text,
      ${time} timestamptz,
      sum float8,
      count bigint,
      last float8,
      last_at timestamptz
    )
    order by channel_id, key, ${time}
    on conflict (channel_id, key, ${time}) do update set
      sum = stored.sum + excluded.sum,
      count = stored.count + excluded.count,
      last = case when excluded.last_at >= stored.last_at then excluded.last else stored.last end,
      last_at = greatest(stored.last_at, excluded.last_at)`)
}

/**
 * Merges contributions to the same minute into one row, because one insert may
 * update a row only once.
 */
function sumByMinute(contributions: readonly TimedContribution[]): AddedCount[] {
  const rows = new Map<string, AddedCount>()
  for (const { channel_id: channelId, timeMs, contribution } of contributions) {
    const minute = new Date(Math.floor(timeMs / MINUTE_MS) * MINUTE_MS)
    for (const [key, value] of Object.entries(contribution)) {
      merge(rows, `${channelId} ${key} ${minute.getTime()}`, {
        channel_id: channelId,
        key,
        minute,
        sum: value,
        count: 1,
        last: value,
        last_at: new Date(timeMs),
      })
    }
  }
  return [...rows.values()]
}

/** Merges the rows of minutes by hour. */
function sumByHour(minutes: readonly AddedCount[]): AddedHour[] {
  const rows = new Map<string, AddedHour>()
  for (const { minute, ...added } of minutes) {
    const hour = new Date(Math.floor(minute.getTime() / HOUR_MS) * HOUR_MS)
    merge(rows, `${added.channel_id} ${added.key} ${hour.getTime()}`, { ...added, hour })
  }
  return [...rows.values()]
}

/**
 * Adds a row to the row with the same id, if there is one. If both have values of the same time,
 * the added value is the newer one.
 */
function merge<Row extends Pick<AddedCount, 'sum' | 'count' | 'last' | 'last_at'>>(
  rows: Map<string, Row>,
  id: string,
  added: Row,
): void {
  const row = rows.get(id)
  if (!row) {
    rows.set(id, added)
    return
  }
  row.sum += added.sum
  row.count += added.count
  if (added.last_at >= row.last_at) {
    row.last = added.last
    row.last_at = added.last_at
  }
}
