import { type SQL, sql } from 'drizzle-orm'
import { MINUTE_MS, type Period } from './samples.ts'

// Queries for the samples of many statistics, each within a period of its own. The texts of the queries do not depend on the number
// of ranges. Key and time of each range are parameters of a lateral subquery, which `offset 0` keeps from becoming a join that reads
// the events of all channels.

/** A statistic of one channel within a period. */
export interface SampleRange extends Period {
  channel_id: string
  key: string
}

interface RangePart extends SampleRange {
  /** Index of the range. */
  range: number
  /** -1: the samples are subtracted. */
  sign: 1 | -1
}

const selectParts = (parts: readonly RangePart[]) => {
  const rows = parts.map(({ from, to, ...part }) => ({ ...part, from: new Date(from), to: new Date(to) }))
  return sql`json_to_recordset(${JSON.stringify(rows)}::text::json)
    as part (range int, sign int, channel_id uuid, key text, "from" timestamptz, "to" timestamptz)`
}

const selectEventSamples = (parts: readonly RangePart[]) => sql`
  select part.range, e.time, part.sign * e.sum as sum, part.sign as count, e.seq
  from ${selectParts(parts)} cross join lateral (
    select event.time, event.seq, (event.statistics ->> part.key)::float8 as sum from event
    where event.channel_id = part.channel_id and event.time >= part."from" and event.time < part."to"
      and event.statistics ? part.key
    offset 0) e`

const selectMinuteSamples = (parts: readonly RangePart[]) => sql`
  select part.range, m.minute as time, m.sum, m.count::int, 0::bigint as seq
  from ${selectParts(parts)} cross join lateral (
    select minute, sum, count from statistic_minute
    where channel_id = part.channel_id and key = part.key and minute >= part."from" and minute < part."to"
    offset 0) m`

/** Builds a query of each sample within ranges. The columns are `range`, which is the index of the range, time, sum, count and seq. */
export const selectRangeSamples = (ranges: readonly SampleRange[]): SQL =>
  selectEventSamples(ranges.map((each, range) => ({ ...each, range, sign: 1 })))

/**
 * Builds a query of the sum and count of the samples within ranges that end at the newest samples. The columns are `range`, which is
 * the index of the range, sum and count. Ranges without samples have no row.
 */
export function selectRangeTotals(ranges: readonly SampleRange[]): SQL {
  const minutes: RangePart[] = []
  const events: RangePart[] = []
  for (const [range, each] of ranges.entries()) {
    const { from, to } = each
    // As few events as possible are read: there are hardly any after the end, and at most those of half a minute at the beginning.
    const start = Math.round(from / MINUTE_MS) * MINUTE_MS
    const end = Math.ceil(to / MINUTE_MS) * MINUTE_MS
    if (start >= end) {
      events.push({ ...each, range, sign: 1 })
      continue
    }
    minutes.push({ ...each, range, sign: 1, from: start, to: end })
    if (from < start) events.push({ ...each, range, sign: 1, to: start })
    if (from > start) events.push({ ...each, range, sign: -1, from: start, to: from })
    if (end > to) events.push({ ...each, range, sign: -1, from: to, to: end })
  }
  return sql`
    select range, sum(sum)::float8 as sum, sum(count)::float8 as count
    from (${selectMinuteSamples(minutes)} union all ${selectEventSamples(events)}) s group by range`
}
