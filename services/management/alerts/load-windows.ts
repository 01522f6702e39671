import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import {
  type SampleRange,
  selectRangeSamples,
  selectRangeTotals,
} from '../events/statistics/sample-ranges.ts'
import { SlidingWindow, type TimedAmount, type WindowAmount } from './sliding-window.ts'

/** The time window of a statistic of a channel, which new messages move. */
export interface MovingWindow {
  channel_id: string
  key: string
  lengthMs: number
  /** Time of the earliest new message, in epoch ms. */
  firstMs: number
  /** Time of the latest new message, in epoch ms. */
  lastMs: number
}

type InRange<Amount> = Amount & { range: number } & Record<string, unknown>

/**
 * Loads windows with the stored values, before the new messages are stored. The result is in the
 * order of `windows`. All windows are read by two queries: one query for each window would take
 * most of the time of the ingest.
 */
export async function loadWindows(
  tx: Transaction,
  windows: readonly MovingWindow[],
): Promise<SlidingWindow[]> {
  if (windows.length === 0) return []
  // Stored values may be later than the earliest new message, because messages arrive
  // slightly out of order.
  const initialRanges = windows.map(window => toRange(window, window.lastMs + 1))
  const initialQuery = tx.execute<InRange<WindowAmount>>(selectRangeTotals(initialRanges))

  // The values that leave a window while it moves from the earliest to the latest new message.
  const leavingRanges = windows.map(window => toRange(window, window.lastMs + 1 - window.lengthMs))
  const leavingQuery = tx.execute<InRange<TimedAmount>>(sql`
    select
      range,
      extract(epoch from time)::float8 * 1000 as "timeMs",
      sum,
      count::float8
    from (${selectRangeSamples(leavingRanges)}) sample
    order by time, seq`)

  const [initialRows, leavingRows] = await Promise.all([initialQuery, leavingQuery])
  const initialByRange = new Map(initialRows.map(({ range, ...amount }) => [range, amount]))
  const leavingByRange = Map.groupBy(leavingRows, ({ range }) => range)
  return windows.map(({ lengthMs }, range) => {
    const initial = initialByRange.get(range) ?? { sum: 0, count: 0 }
    return new SlidingWindow(lengthMs, initial, leavingByRange.get(range) ?? [])
  })
}

/**
 * Returns the range from the beginning of a window at the earliest new message until `to`
 * (epoch ms, exclusive).
 */
const toRange = (
  { channel_id, key, lengthMs, firstMs }: MovingWindow,
  to: number,
): SampleRange => ({
  channel_id,
  key,
  from: firstMs - lengthMs + 1,
  to,
})
