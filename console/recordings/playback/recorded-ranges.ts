import type { RecordedRange } from '@eyrie/contract/recording'

/** A range of time on the timeline of recordings, in ms since 1970. `to` is exclusive. */
export interface TimeSpan {
  from: number
  to: number
}

/** A span that is recorded without gaps. */
export interface RecordedSpan extends TimeSpan {
  bytes: number
}

/** Playback at the end of a span starts this much earlier, so that there is a frame to show. */
const BEFORE_END_MS = 1000

/** Returns the range if both ends are known. */
export function toTimeSpan({ from, to }: Partial<TimeSpan>): TimeSpan | undefined {
  return from === undefined || to === undefined ? undefined : { from, to }
}

/** Converts the ranges in a response of the media service. */
export const parseRanges = (ranges: readonly RecordedRange[]): RecordedSpan[] =>
  ranges.map(({ from, to, bytes }) => ({ from: Date.parse(from), to: Date.parse(to), bytes }))

/** Merges neighbouring spans with a gap shorter than `minGapMs` between them. */
export function mergeSpans(spans: readonly TimeSpan[], minGapMs: number): TimeSpan[] {
  const merged: TimeSpan[] = []
  for (const { from, to } of spans) {
    const last = merged.at(-1)
    if (last && from - last.to < minGapMs) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}

/**
 * Returns the time itself if it is recorded, otherwise the closest recorded time in the
 * preferred direction.
 */
export function findNearestRecorded(
  spans: readonly RecordedSpan[],
  timeMs: number,
  preferred: 'later' | 'earlier' = 'later',
): number | undefined {
  if (spans.some(({ from, to }) => timeMs >= from && timeMs < to)) return timeMs

  const nextSpan = spans.find(({ from }) => from > timeMs)
  const later = nextSpan?.from
  const previousSpan = spans.findLast(({ to }) => to <= timeMs)
  const earlier = previousSpan && Math.max(previousSpan.from, previousSpan.to - BEFORE_END_MS)
  return preferred === 'later' ? (later ?? earlier) : (earlier ?? later)
}

/**
 * Returns the time at which playback continues after `endMs`; undefined at the end of the
 * recording.
 */
export function findContinuation(
  spans: readonly RecordedSpan[],
  endMs: number,
): number | undefined {
  const next = spans.find(({ to }) => to > endMs + BEFORE_END_MS)
  return next && Math.max(next.from, endMs + 1)
}

/** Estimates the size of a clip, assuming a constant bit rate in each span. */
export function estimateBytes(spans: readonly RecordedSpan[], clip: TimeSpan): number {
  let byteCount = 0
  for (const span of spans) {
    const overlapMs = getOverlapMs(span, clip)
    if (overlapMs > 0) byteCount += (span.bytes * overlapMs) / (span.to - span.from)
  }
  return byteCount
}

/** Returns how much of the clip is recorded. */
export function countRecordedMs(spans: readonly RecordedSpan[], clip: TimeSpan): number {
  return spans.reduce((sumMs, span) => sumMs + getOverlapMs(span, clip), 0)
}

const getOverlapMs = (a: TimeSpan, b: TimeSpan) =>
  Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from))
