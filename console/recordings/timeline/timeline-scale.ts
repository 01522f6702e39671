import type { RecordedEvent } from '@eyrie/contract/recording'
import type { TimeSpan } from '../playback/recorded-ranges.ts'

// Calculations of the timeline: zooming and panning its visible span, its ticks, and its event
// marks.

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** All UTC offsets are multiples of 15 minutes. */
const OFFSET_STEP_MS = 15 * MINUTE_MS
/** The timeline cannot be zoomed in further. */
const MIN_SPAN_MS = 10 * SECOND_MS
/** Possible distances between ticks, except the greatest, in ascending order. */
const TICK_STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map(seconds => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map(minutes => minutes * MINUTE_MS),
  ...[1, 2, 3, 6].map(hours => hours * HOUR_MS),
]
/** The greatest distance between ticks. The timeline shows at most one day. */
const MAX_TICK_STEP_MS = 12 * HOUR_MS
/** Events that are closer together than this are shown as one mark. */
const MIN_MARK_DISTANCE_PX = 4

/**
 * Scales the span by `factor` around `anchorMs`, which does not move on the screen. A
 * factor below 1 zooms in.
 */
export function zoomAt(
  span: TimeSpan,
  factor: number,
  anchorMs: number,
  limits: TimeSpan,
): TimeSpan {
  const lengthMs = scaleLength(span, factor, limits)
  /** Position of the anchor in the span, from 0 to 1. */
  const anchorShare = (anchorMs - span.from) / (span.to - span.from)
  const from = anchorMs - anchorShare * lengthMs
  return clampSpan({ from, to: from + lengthMs }, limits)
}

/** Scales the span by `factor` and centres it on a time. */
export function zoomCentered(
  span: TimeSpan,
  factor: number,
  centerMs: number,
  limits: TimeSpan,
): TimeSpan {
  return clampSpan(createSpanAround(centerMs, scaleLength(span, factor, limits)), limits)
}

const scaleLength = ({ from, to }: TimeSpan, factor: number, limits: TimeSpan) =>
  Math.max(MIN_SPAN_MS, Math.min(limits.to - limits.from, (to - from) * factor))

/** Moves the span by a time, within the limits. */
export const pan = ({ from, to }: TimeSpan, byMs: number, limits: TimeSpan): TimeSpan =>
  clampSpan({ from: from + byMs, to: to + byMs }, limits)

/**
 * Returns the span itself if it contains the time, otherwise a span of the same length around it.
 */
export function panInto(span: TimeSpan, timeMs: number, limits: TimeSpan): TimeSpan {
  if (timeMs >= span.from && timeMs < span.to) return span
  return clampSpan(createSpanAround(timeMs, span.to - span.from), limits)
}

const createSpanAround = (centerMs: number, lengthMs: number): TimeSpan => ({
  from: centerMs - lengthMs / 2,
  to: centerMs + lengthMs / 2,
})

/** Moves the span inside the limits, and shortens it if it is longer than them. */
function clampSpan({ from, to }: TimeSpan, limits: TimeSpan): TimeSpan {
  const lengthMs = Math.min(to - from, limits.to - limits.from)
  const start = Math.max(limits.from, Math.min(from, limits.to - lengthMs))
  return { from: start, to: start + lengthMs }
}

/** A labelled tick on the time axis. */
export interface Tick {
  timeMs: number
  /** Local time. */
  text: string
}

/**
 * Creates about `max` ticks at round local times. An hour that is repeated by a clock change
 * has its ticks twice.
 */
export function createTicks(span: TimeSpan, max: number): Tick[] {
  const lengthMs = span.to - span.from
  const stepMs = TICK_STEPS_MS.find(step => lengthMs / step <= max) ?? MAX_TICK_STEP_MS

  // A clock change may shift the round local times to any multiple of the offset step.
  const strideMs = Math.min(stepMs, OFFSET_STEP_MS)
  const firstMs = Math.ceil(span.from / strideMs) * strideMs
  const precision = stepMs < MINUTE_MS ? 'seconds' : 'minutes'
  const ticks: Tick[] = []
  for (let timeMs = firstMs; timeMs < span.to; timeMs += strideMs) {
    const isRound = getTimeOfDayMs(timeMs) % stepMs === 0
    if (isRound) ticks.push({ timeMs, text: formatClock(timeMs, precision) })
  }
  return ticks
}

/** Returns the local time of day in ms, rounded down to a second. */
function getTimeOfDayMs(timeMs: number): number {
  const date = new Date(timeMs)
  return date.getHours() * HOUR_MS + date.getMinutes() * MINUTE_MS + date.getSeconds() * SECOND_MS
}

/** Formats the local time of day: `14:05`, or `14:05:09` with seconds. */
export function formatClock(timeMs: number, precision: 'minutes' | 'seconds'): string {
  const [time = ''] = new Date(timeMs).toTimeString().split(' ')
  if (precision === 'seconds') return time
  const [hours, minutes] = time.split(':')
  return `${hours}:${minutes}`
}

/** A mark on the timeline for one event, or for several that are too close to distinguish. */
export interface EventMark {
  timeMs: number
  /** Number of events. */
  count: number
  /** Class of the first object, or the type of an event without an object. */
  kind: string
}

/**
 * Groups the events of a span, which must be sorted by time, into marks that are far enough apart
 * on the screen.
 */
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
