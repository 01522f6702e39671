import type { RecordedEvent } from '@eyrie/contract/recording'
import type { ReadonlySignal } from '@preact/signals'
import { useComputed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { EventRow } from '../ui/event-row.tsx'
import type { TimeSpan } from './playback/recorded-ranges.ts'
import './recorded-event-list.css'

interface RecordedEventListProps {
  /** In order of time. */
  events: readonly RecordedEvent[]
  /** Whether the day has more events than one response contains. */
  hasMore: boolean
  /** The visible part of the timeline. */
  span: TimeSpan
  position: ReadonlySignal<number | undefined>
  onSelect(event: RecordedEvent): void
}

const MAX_ROWS = 400
/**
 * Tolerance between the times of an event and of its frame, which may be rounded differently.
 * Below a frame duration.
 */
const SAME_FRAME_MS = 20

/** Lists the events in the visible part of the timeline. */
export function RecordedEventList({
  events,
  hasMore,
  span,
  position,
  onSelect,
}: RecordedEventListProps) {
  const visible = events.filter(event => {
    const timeMs = Date.parse(event.time)
    return timeMs >= span.from && timeMs < span.to
  })
  return (
    <section class="events recorded-events" aria-label="Events">
      <h2>
        Events <small>{visible.length > 0 && visible.length}</small>
      </h2>
      {visible.length === 0 && <p class="empty">No events in the visible part of the timeline.</p>}
      {hasMore && <p class="empty">Only the first events of this day are listed.</p>}
      {visible.length > MAX_ROWS && (
        <p class="empty">Showing the first {MAX_ROWS} events. Zoom in to see the others.</p>
      )}
      <EventRows events={visible.slice(0, MAX_ROWS)} position={position} onSelect={onSelect} />
    </section>
  )
}

/** The rows of the list. The row at the playback position is highlighted and scrolled into view. */
function EventRows({
  events,
  position,
  onSelect,
}: Pick<RecordedEventListProps, 'events' | 'position' | 'onSelect'>) {
  // A computed value, so that the rows are rendered when another event is reached,
  // not for every frame.
  const currentIndex = useComputed(() => {
    const timeMs = position.value
    if (timeMs === undefined) return -1
    return events.findLastIndex(({ time }) => Date.parse(time) <= timeMs + SAME_FRAME_MS)
  }).value

  const currentRow = useRef<HTMLLIElement>(null)
  // After every rendering, because another row is current, or the rows have moved.
  useEffect(() => {
    if (currentRow.current) scrollIntoList(currentRow.current)
  })

  return (
    <ol>
      {events.map((event, index) => {
        const { time, channel, pts, data } = event
        const isCurrent = index === currentIndex
        return (
          <li key={`${time} ${channel} ${pts} ${index}`} ref={isCurrent ? currentRow : null}>
            <button
              type="button"
              class="event"
              aria-current={isCurrent ? 'true' : undefined}
              onClick={() => onSelect(event)}
            >
              <EventRow time={time} event={data} />
            </button>
          </li>
        )
      })}
    </ol>
  )
}

/** Scrolls the list of a row, if the row is not visible, so that the row is in the middle. */
function scrollIntoList(row: HTMLElement) {
  const list = row.parentElement
  if (!list) return
  const top = row.offsetTop - list.offsetTop
  const isAbove = top < list.scrollTop
  const isBelow = top + row.clientHeight > list.scrollTop + list.clientHeight
  if (isAbove || isBelow) list.scrollTo({ top: top - list.clientHeight / 2 })
}
