import type { RecordedEvent } from '@eyrie/contract/recording'
import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { classColour } from '../../ui/class-color.ts'
import { type Day, offsetText } from './calendar-day.ts'
import { marksOf } from './marks.ts'
import { joined, type Recorded } from '../playback/recorded-ranges.ts'
import { clockText, type Span, ticksOf } from './timeline-scale.ts'
import { useTimelineGestures } from './timeline-gestures.ts'
import './timeline.css'

interface TimelineProps {
  day: Day
  span: Span
  onSpan(span: Span): void
  recorded: readonly Recorded[]
  events: readonly RecordedEvent[]
  position: ReadonlySignal<number | undefined>
  /** What is chosen for a clip. */
  clip: Span | undefined
  onSeek(timeMs: number): void
}

const LABEL_PX = 76

/** A day, or a part of it: what is recorded, what has happened, and where the playback is. */
export function Timeline(props: TimelineProps) {
  const { day, span, onSpan, recorded, events, clip, onSeek } = props
  const track = useRef<HTMLElement>(null)
  const width = useWidth(track)
  const hovered = useTimelineGestures(track, { span, limits: day, onSpan, onSeek })
  const length = span.to - span.from
  const share = (timeMs: number) => `${((timeMs - span.from) / length) * 100}%`
  const part = ({ from, to }: Span) => ({ left: share(from), width: `${((to - from) / length) * 100}%` })
  const seen = (each: Span) => each.to > span.from && each.from < span.to
  const perPixel = length / Math.max(1, width)
  const isOdd = day.to - day.from !== 86_400_000

  return (
    <section class="timeline" aria-label="Timeline" ref={track} data-from={span.from} data-to={span.to}>
      <div class="ticks" aria-hidden="true">
        {ticksOf(span, Math.max(2, Math.floor(width / LABEL_PX))).map(({ timeMs, text }) => (
          <span key={timeMs} style={{ left: share(timeMs) }}>
            {text}
            {isOdd && <small> {offsetText(timeMs).slice(0, 3)}</small>}
          </span>
        ))}
      </div>
      <div class="band">
        {joined(recorded, Math.max(2000, 2 * perPixel))
          .filter(seen)
          .map(range => (
            <i key={range.from} class="recorded" style={part(range)} />
          ))}
        {clip && <i class="chosen" style={part(clip)} />}
      </div>
      <div class="marks">
        {marksOf(events, span, width).map(({ timeMs, count, kind }) => (
          <i
            key={timeMs}
            class={count > 1 ? 'mark many' : 'mark'}
            style={{ left: share(timeMs), '--class': classColour(kind) }}
          />
        ))}
      </div>
      <Playhead position={props.position} span={span} />
      {hovered !== undefined && (
        <output class="hover" style={{ left: share(hovered) }}>
          {clockText(hovered, length < 12 * 3_600_000)}
        </output>
      )}
    </section>
  )
}

function Playhead({ position, span }: { position: ReadonlySignal<number | undefined>; span: Span }) {
  const at = position.value
  if (at === undefined || at < span.from || at > span.to) return null
  return <i class="playhead" style={{ left: `${((at - span.from) / (span.to - span.from)) * 100}%` }} />
}

/** In CSS pixels. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const resize = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width))
    resize.observe(element.current!)
    return () => resize.disconnect()
  }, [element])
  return width
}
