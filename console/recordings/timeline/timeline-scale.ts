import type { RecordedEvent } from '@eyrie/contract/recording'
import type { TimeSpan } from '../playback/recorded-ranges.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** All UTC offsets are multiples of a quarter of an hour. */
const OFFSET_STEP_MS = 15 * MINUTE_MS
const MIN_SPAN_MS = 10 * SECOND_MS
/** Possible distances between ticks. */
const TICK_STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map(seconds => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map(minutes => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map(hours => hours * HOUR_MS),
]

/** Scales the span by `factor`; the position of `anchorMs` on the screen does not change. A factor below 1 zooms in. */
export function zoomAt(span: TimeSpan, factor: number, anchorMs: number, limits: TimeSpan): TimeSpan {
  const lengthMs = scaleLength(span, factor, limits)
  const share = (anchorMs - span.from) / (span.to - span.from)
  return clampSpan({ from: anchorMs - share * lengthMs, to: anchorMs + (1 - share) * lengthMs }, limits)
}

/** Scales the span by `factor` and centres it on a time. */
export function zoomCentered(span: TimeSpan, factor: number, centerMs: number, limits: TimeSpan): TimeSpan {
  const lengthMs = scaleLength(span, factor, limits)
  return clampSpan({ from: centerMs - lengthMs / 2, to: centerMs + lengthMs / 2 }, limits)
}

const scaleLength = ({ from, to }: TimeSpan, factor: number, limits: TimeSpan) =>
  Math.max(MIN_SPAN_MS, Math.min(limits.to - limits.from, (to - from) * factor))

export const pan = ({ from, to }: TimeSpan, byMs: number, limits: TimeSpan): TimeSpan =>
  clampSpan({ from: from + byMs, to: to + byMs }, limits)

/** Returns the span itself if it contains the time, otherwise a span of the same length around it. */
export function panInto(span: TimeSpan, timeMs: number, limits: TimeSpan): TimeSpan {
  if (timeMs >= span.from && timeMs < span.to) return span
  const lengthMs = span.to - span.from
  return clampSpan({ from: timeMs - lengthMs / 2, to: timeMs + lengthMs / 2 }, limits)
}

function clampSpan({ from, to }: TimeSpan, limits: TimeSpan): TimeSpan {
  const lengthMs = Math.min(to - from, limits.to - limits.from)
  const start = Math.max(limits.from, Math.min(from, limits.to - lengthMs))
  return { from: start, to: start + lengthMs }
}

export interface Tick {
  timeMs: number
  /** Local time. */
  text: string
}

/** Returns at most `max` ticks at round local times. On a day that repeats an hour, its ticks are repeated, too. */
export function createTicks(span: TimeSpan, max: number): Tick[] {
  const stepMs = TICK_STEPS_MS.find(step => (span.to - span.from) / step <= max) ?? TICK_STEPS_MS.at(-1)!
  // Where clocks change, the distance between round times is not a multiple of the step.
  const strideMs = Math.min(stepMs, OFFSET_STEP_MS)
  const ticks: Tick[] = []
  for (let timeMs = Math.ceil(span.from / strideMs) * strideMs; timeMs < span.to; timeMs += strideMs) {
    if (getLocalMs(timeMs) % stepMs === 0)
      ticks.push({ timeMs, text: formatClock(timeMs, stepMs < MINUTE_MS) })
  }
  return ticks
}

/** Local time of day in ms, to the second. */
function getLocalMs(timeMs: number): number {
  const date = new Date(timeMs)
  return date.getHours() * HOUR_MS + date.getMinutes() * MINUTE_MS + date.getSeconds() * SECOND_MS
}

/** `14:05`, or `14:05:09`. */
export const formatClock = (timeMs: number, withSeconds: boolean) =>
  new Date(timeMs).toTimeString().slice(0, withSeconds ? 8 : 5)

export interface EventMark {
  timeMs: number
  /** Number of events that share the mark. */
  count: number
  /** Class of the first object, or the type of an event without an object. */
  kind: string
}

const MIN_MARK_DISTANCE_PX = 4

/** Groups the events of a span into marks that can be told apart on the screen. */
export function createEventMarks(
  events: readonly RecordedEvent[],
  { from, to }: TimeSpan,
  widthPx: number,
): EventMark[] {
  const minDistanceMs = ((to - from) / Math.max(1, widthPx)) * MIN_MARK_DISTANCE_PX
  const marks: EventMark[] = []
  for (const { time, data } of events) {
    const timeMs = Date.parse(time)
    if (timeMs < from || timeMs > to) continue
    const last = marks.at(-1)
    if (last && timeMs - last.timeMs < minDistanceMs) last.count++
    else marks.push({ timeMs, count: 1, kind: data.class ?? data.type })
  }
  return marks
}
