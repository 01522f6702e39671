import type { RecordedEvent } from '@eyrie/contract/recording'
import type { Span } from './timeline-scale.ts'

export interface Mark {
  timeMs: number
  /** So many events are near together. */
  count: number
  /** Class of the first object, or the event's type where there is none. */
  kind: string
}

/** Nearer than this they could not be told apart, in pixels. */
const APART_PX = 4

/** The events of a span as marks, of which there are never more than a screen shows. */
export function marksOf(events: readonly RecordedEvent[], { from, to }: Span, widthPx: number): Mark[] {
  const apartMs = ((to - from) / Math.max(1, widthPx)) * APART_PX
  const marks: Mark[] = []
  for (const { time, data } of events) {
    const timeMs = Date.parse(time)
    if (timeMs < from || timeMs > to) continue
    const last = marks.at(-1)
    if (last && timeMs - last.timeMs < apartMs) last.count++
    else marks.push({ timeMs, count: 1, kind: data.class ?? data.type })
  }
  return marks
}
