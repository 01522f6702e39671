import { sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import type { AddedCount } from '../../feed/live-counts.ts'
import type { Contribution } from './contribution.ts'
import { HOUR_MS, MINUTE_MS } from './samples.ts'

/** What a message of an engine adds to the statistics of its channel, and when. */
export interface TimedContribution {
  channel_id: string
  /** Epoch ms. */
  timeMs: number
  contribution: Contribution
}

/** Values that were added to a statistic of a channel within an hour. */
interface AddedHourCount extends Omit<AddedCount, 'minute'> {
  hour: Date
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
  await storeRows(tx, 'minute', minutes)
  await storeRows(tx, 'hour', sumByHour(minutes))
  return minutes
}

/**
 * Adds rows to the table of minutes or of hours. A row that exists is updated. All inserts use the
 * same order, so that concurrent ones cannot deadlock.
 */
async function storeRows(
  tx: Transaction,
  unit: 'minute' | 'hour',
  rows: readonly (AddedCount | AddedHourCount)[],
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
 * Merges contributions to the same minute of a statistic into one row, because an insert can
 * update a stored row only once.
 */
function sumByMinute(contributions: readonly TimedContribution[]): AddedCount[] {
  const rows = new Map<string, AddedCount>()
  for (const { channel_id, timeMs, contribution } of contributions) {
    const minute = new Date(Math.floor(timeMs / MINUTE_MS) * MINUTE_MS)
    for (const [key, value] of Object.entries(contribution)) {
      merge(rows, minute, {
        channel_id,
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

/** Merges the rows of the minutes of an hour into one row, for each hour. */
function sumByHour(minutes: readonly AddedCount[]): AddedHourCount[] {
  const rows = new Map<string, AddedHourCount>()
  for (const { minute, ...added } of minutes) {
    const hour = new Date(Math.floor(minute.getTime() / HOUR_MS) * HOUR_MS)
    merge(rows, hour, { ...added, hour })
  }
  return [...rows.values()]
}

/**
 * Adds the values of a row to the row in `rows` with the same channel, key and start, or inserts
 * the row if there is none. Like the SQL above, it uses the newer `last`. If both have the same
 * time, the added one is the newer one.
 */
function merge<Row extends Omit<AddedCount, 'minute'>>(
  rows: Map<string, Row>,
  start: Date,
  added: Row,
): void {
  const id = `${added.channel_id} ${added.key} ${start.getTime()}`
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
