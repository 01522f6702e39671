import type { RecordedRange } from '@eyrie/contract/recording'

/** Times are in ms since 1970; `to` is exclusive. */
export interface TimeSpan {
  from: number
  to: number
}

/** A span without gaps. */
export interface RecordedSpan extends TimeSpan {
  bytes: number
}

/** Where playback starts in a span whose end was requested: early enough for a frame to exist. */
const BEFORE_END_MS = 1000

export const parseRanges = (ranges: readonly RecordedRange[]): RecordedSpan[] =>
  ranges.map(({ from, to, bytes }) => ({ from: Date.parse(from), to: Date.parse(to), bytes }))

/** Merges spans with gaps shorter than `minGapMs` between them. */
export function mergeSpans(spans: readonly TimeSpan[], minGapMs: number): TimeSpan[] {
  const merged: TimeSpan[] = []
  for (const { from, to } of spans) {
    const last = merged.at(-1)
    if (last && from - last.to < minGapMs) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}

/** Returns the time itself if it is recorded, otherwise the closest recorded time in the preferred direction. */
export function findNearestRecorded(
  spans: readonly RecordedSpan[],
  timeMs: number,
  preferred: 'later' | 'earlier' = 'later',
): number | undefined {
  if (spans.some(({ from, to }) => timeMs >= from && timeMs < to)) return timeMs
  const later = spans.find(({ from }) => from > timeMs)?.from
  const last = spans.findLast(({ to }) => to <= timeMs)
  const earlier = last && Math.max(last.from, last.to - BEFORE_END_MS)
  return preferred === 'later' ? (later ?? earlier) : (earlier ?? later)
}

/** Returns where playback continues after it has reached `endMs`; undefined at the end of the recording. */
export function findContinuation(spans: readonly RecordedSpan[], endMs: number): number | undefined {
  const next = spans.find(({ to }) => to > endMs + BEFORE_END_MS)
  return next && Math.max(next.from, endMs + 1)
}

/** Estimates the size of a clip. */
export const estimateBytes = (spans: readonly RecordedSpan[], { from, to }: TimeSpan): number =>
  spans.reduce((sum, span) => {
    const overlapMs = Math.min(to, span.to) - Math.max(from, span.from)
    return overlapMs > 0 ? sum + (span.bytes * overlapMs) / (span.to - span.from) : sum
  }, 0)

/** Returns how much of the time between `from` and `to` is recorded. */
export const countRecordedMs = (spans: readonly RecordedSpan[], { from, to }: TimeSpan): number =>
  spans.reduce((sum, span) => sum + Math.max(0, Math.min(to, span.to) - Math.max(from, span.from)), 0)
