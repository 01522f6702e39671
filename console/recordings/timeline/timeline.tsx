import type { RecordedEvent } from '@eyrie/contract/recording'
import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { getClassColor } from '../../ui/class-color.ts'
import { mergeSpans, type RecordedSpan, type TimeSpan } from '../playback/recorded-ranges.ts'
import { type CalendarDay, formatUtcOffset, hasClockChange } from './calendar-day.ts'
import { useTimelineGestures } from './timeline-gestures.ts'
import { createEventMarks, createTicks, formatClock } from './timeline-scale.ts'
import './timeline.css'

interface TimelineProps {
  day: CalendarDay
  /** The visible part of the day. */
  span: TimeSpan
  /** Called when the user has panned or zoomed. */
  onSpan(span: TimeSpan): void
  recorded: readonly RecordedSpan[]
  events: readonly RecordedEvent[]
  /** The time of the frame on display. */
  position: ReadonlySignal<number | undefined>
  clip: TimeSpan | undefined
  onSeek(timeMs: number): void
}

/** Space for a tick with its text. */
const TICK_WIDTH_PX = 76
/** Gaps that are shorter or narrower than these are hidden. */
const MIN_GAP_MS = 2000
const MIN_GAP_PX = 2
/** A span longer than this shows the time under the pointer without seconds. */
const MAX_SPAN_WITH_SECONDS_MS = 12 * 3_600_000

/** The timeline of a day: recorded spans, events, the selected clip and the playhead. */
export function Timeline(props: TimelineProps) {
  const { day, span, onSpan, recorded, events, clip, onSeek } = props
  const track = useRef<HTMLElement>(null)
  const width = useWidth(track)
  const hoveredMs = useTimelineGestures(track, { span, limits: day, onSpan, onSeek })

  const lengthMs = span.to - span.from
  const msPerPx = lengthMs / Math.max(1, width)
  const ticks = createTicks(span, Math.max(2, Math.floor(width / TICK_WIDTH_PX)))
  const visibleSpans = mergeSpans(recorded, Math.max(MIN_GAP_MS, MIN_GAP_PX * msPerPx)).filter(
    ({ from, to }) => to > span.from && from < span.to,
  )

  const toLeft = (timeMs: number) => toPercent(timeMs - span.from, span)
  const toStyle = ({ from, to }: TimeSpan) => ({
    left: toLeft(from),
    width: toPercent(to - from, span),
  })

  return (
    <section
      class="timeline"
      aria-label="Timeline"
      ref={track}
      data-from={span.from}
      data-to={span.to}
    >
      <div class="ticks" aria-hidden="true">
        {ticks.map(({ timeMs, text }) => (
          <span key={timeMs} style={{ left: toLeft(timeMs) }}>
            {text}
            {hasClockChange(day) && <small> {formatOffsetHours(timeMs)}</small>}
          </span>
        ))}
      </div>
      <div class="band">
        {visibleSpans.map(visible => (
          <i key={visible.from} class="recorded" style={toStyle(visible)} />
        ))}
        {clip && <i class="clip" style={toStyle(clip)} />}
      </div>
      <div class="marks">
        {createEventMarks(events, span, width).map(({ timeMs, count, kind }) => (
          <i
            key={timeMs}
            class={count > 1 ? 'mark cluster' : 'mark'}
            style={{ left: toLeft(timeMs), '--class': getClassColor(kind) }}
          />
        ))}
      </div>
      <Playhead position={props.position} span={span} />
      {hoveredMs !== undefined && (
        <output class="hover-time" style={{ left: toLeft(hoveredMs) }}>
          {formatClock(hoveredMs, lengthMs < MAX_SPAN_WITH_SECONDS_MS ? 'seconds' : 'minutes')}
        </output>
      )}
    </section>
  )
}

/** Returns a duration as a share of the width of the timeline, which shows `span`. */
const toPercent = (durationMs: number, span: TimeSpan) =>
  `${(durationMs / (span.to - span.from)) * 100}%`

/** Formats the hours of the offset of local time from UTC: `+02`. */
const formatOffsetHours = (timeMs: number) => formatUtcOffset(timeMs).slice(0, 3)

/**
 * A line at the playback position. It is a separate component, so that the timeline is not
 * rendered for every frame.
 */
function Playhead({ position, span }: Pick<TimelineProps, 'position' | 'span'>) {
  const timeMs = position.value
  if (timeMs === undefined || timeMs < span.from || timeMs > span.to) return null
  return <i class="playhead" style={{ left: toPercent(timeMs - span.from, span) }} />
}

/** Returns the width of an element in CSS pixels. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width))
    observer.observe(element.current!)
    return () => observer.disconnect()
  }, [element])
  return width
}
