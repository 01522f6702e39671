import { type SQL, sql } from 'drizzle-orm'
import { MINUTE_MS, type Period } from './samples.ts'

// Queries for the samples of many statistics at once, each within a period of its own (a
// range). A sample is a value that an event has added to a statistic, or the sum of such
// values of a whole minute.
//
// The text of a query does not depend on the number of ranges, so that it is prepared only once.
// `offset 0` makes Postgres read the samples of each range by the index. It would otherwise join
// the ranges with the events of all channels.

/** A statistic of one channel within a period. */
export interface SampleRange extends Period {
  channel_id: string
  key: string
}

/** A part of a range. Its samples are added to the totals of the range, or subtracted from them. */
interface RangePart extends SampleRange {
  /** Index of the range. */
  range: number
  sign: 1 | -1
}

/**
 * Builds a query that returns each sample within ranges. The columns are range (the index of the
 * range), time, sum, count and seq.
 */
export const selectRangeSamples = (ranges: readonly SampleRange[]): SQL =>
  selectEventSamples(ranges.map((range, index) => ({ ...range, range: index, sign: 1 })))

/**
 * Builds a query that returns the sum and count of the samples within ranges, which must end near
 * the newest samples. The columns are range (the index of the range), sum and count. Ranges without
 * samples have no row.
 */
export function selectRangeTotals(ranges: readonly SampleRange[]): SQL {
  const minuteParts: RangePart[] = []
  const eventParts: RangePart[] = []
  for (const [index, range] of ranges.entries()) {
    const whole: RangePart = { ...range, range: index, sign: 1 }
    const { from, to } = range
    // Reads whole minutes, and corrects them by events at both ends. The start is rounded, so that
    // at most the events of half a minute are read there. The end is rounded up, because there are
    // hardly any events after it.
    const start = Math.round(from / MINUTE_MS) * MINUTE_MS
    const end = Math.ceil(to / MINUTE_MS) * MINUTE_MS
    if (start >= end) {
      eventParts.push(whole)
      continue
    }
    minuteParts.push({ ...whole, from: start, to: end })
    if (from < start) eventParts.push({ ...whole, to: start })
    // Subtracts the events of the first and of the last minute that are outside of the range.
    if (start < from) eventParts.push({ ...whole, sign: -1, from: start, to: from })
    if (to < end) eventParts.push({ ...whole, sign: -1, from: to, to: end })
  }
  return sql`
    select range, sum(sum)::float8 as sum, sum(count)::float8 as count
    from (
      ${selectMinuteSamples(minuteParts)}
      union all
      ${selectEventSamples(eventParts)}
    ) sample
    group by range`
}

const selectEventSamples = (parts: readonly RangePart[]) => sql`
  select
    part.range,
    sample.time,
    part.sign * sample.value as sum,
    part.sign as count,
    sample.seq
  from ${selectParts(parts)}
  cross join lateral (
    select
      event.time,
      event.seq,
      (event.statistics ->> part.key)::float8 as value
    from event
    where event.channel_id = part.channel_id
      and event.time >= part."from"
      and event.time < part."to"
      and event.statistics ? part.key
    offset 0
  ) sample`

/** Selects minutes as samples. `sign` is not used, because only events are subtracted. */
const selectMinuteSamples = (parts: readonly RangePart[]) => sql`
  select
    part.range,
    sample.minute as time,
    sample.sum,
    sample.count::int,
    0::bigint as seq
  from ${selectParts(parts)}
  cross join lateral (
    select minute, sum, count
    from statistic_minute
    where channel_id = part.channel_id
      and key = part.key
      and minute >= part."from"
      and minute < part."to"
    offset 0
  ) sample`

/** Passes parts to a query as one parameter, as the relation `part`. */
function selectParts(parts: readonly RangePart[]): SQL {
  const rows = parts.map(({ from, to, ...part }) => ({
    ...part,
    from: new Date(from),
    to: new Date(to),
  }))
  return sql`
    json_to_recordset(${JSON.stringify(rows)}::text::json) as part (
      range int,
      sign int,
      channel_id uuid,
      key text,
      "from" timestamptz,
      "to" timestamptz
    )`
}
