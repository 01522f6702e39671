import type { RecordedRange } from '@eyrie/contract/recording'
import type { Span } from '../timeline/timeline-scale.ts'

/** Times without a hole, the oldest first. */
export interface Recorded extends Span {
  bytes: number
}

/** Less than this is no hole that anybody would look for. */
const SEAM_MS = 2000
/** Of the last picture, so that it is there. */
const END_MS = 1000

export const recordedOf = (ranges: readonly RecordedRange[]): Recorded[] =>
  ranges.map(({ from, to, bytes }) => ({ from: Date.parse(from), to: Date.parse(to), bytes }))

/** What a viewer sees as one: holes between are shorter than this. */
export function joined(recorded: readonly Recorded[], seamMs = SEAM_MS): Recorded[] {
  const whole: Recorded[] = []
  for (const each of recorded) {
    const last = whole.at(-1)
    if (last && each.from - last.to < seamMs)
      Object.assign(last, { to: Math.max(last.to, each.to), bytes: last.bytes + each.bytes })
    else whole.push({ ...each })
  }
  return whole
}

/** The recorded moment that is meant by a time: itself, or the next one, or the last one before it. */
export function nearest(recorded: readonly Recorded[], timeMs: number, back = false): number | undefined {
  if (recorded.some(({ from, to }) => timeMs >= from && timeMs < to)) return timeMs
  const after = recorded.find(({ from }) => from > timeMs)?.from
  const last = recorded.findLast(({ to }) => to <= timeMs)
  const before = last && Math.max(last.from, last.to - END_MS)
  return back ? (before ?? after) : (after ?? before)
}

/** Where a playback goes on that has come to its end at this time. */
export function nextRecorded(recorded: readonly Recorded[], afterMs: number): number | undefined {
  const later = recorded.find(({ to }) => to > afterMs + END_MS)
  return later && Math.max(later.from, afterMs + 1)
}

/** About how much a clip of this time has. */
export const bytesIn = (recorded: readonly Recorded[], { from, to }: Span): number =>
  recorded.reduce((sum, each) => {
    const common = Math.min(to, each.to) - Math.max(from, each.from)
    return common > 0 ? sum + (each.bytes * common) / (each.to - each.from) : sum
  }, 0)

export const lengthMs = (recorded: readonly Recorded[], { from, to }: Span): number =>
  recorded.reduce((sum, each) => sum + Math.max(0, Math.min(to, each.to) - Math.max(from, each.from)), 0)
