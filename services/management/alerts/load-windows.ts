import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { selectRangeSamples, selectRangeTotals } from '../events/statistics/sample-ranges.ts'
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
 * Loads windows with the stored values, before the new messages are stored. The result is in the order of `windows`. All windows are
 * read by two queries: one query for each window would take most of the time of the ingest.
 */
export async function loadWindows(
  tx: Transaction,
  windows: readonly MovingWindow[],
): Promise<SlidingWindow[]> {
  if (windows.length === 0) return []
  const ranges = windows.map(({ channel_id, key, lengthMs, firstMs, lastMs }) => ({
    channel_id,
    key,
    from: firstMs - lengthMs + 1,
    // Not `firstMs`: messages arrive slightly out of order, so stored values may be later than the earliest new message.
    to: lastMs + 1,
  }))
  const initialQuery = tx.execute<InRange<WindowAmount>>(selectRangeTotals(ranges))

  // While a window moves from the earliest to the latest new message, the values in this range leave it.
  const leavingRanges = ranges.map((range, index) => ({ ...range, to: range.to - windows[index]!.lengthMs }))
  const leavingQuery = tx.execute<InRange<TimedAmount>>(sql`
    select range, extract(epoch from time)::float8 * 1000 as "timeMs", sum, count::float8
    from (${selectRangeSamples(leavingRanges)}) s order by time, seq`)

  const [initialRows, leavingRows] = await Promise.all([initialQuery, leavingQuery])
  const initialByRange = new Map(initialRows.map(({ range, ...amount }) => [range, amount]))
  const leavingByRange = Map.groupBy(leavingRows, ({ range }) => range)
  return windows.map(({ lengthMs }, range) => {
    const initial = initialByRange.get(range) ?? { sum: 0, count: 0 }
    return new SlidingWindow(lengthMs, initial, leavingByRange.get(range) ?? [])
  })
}
