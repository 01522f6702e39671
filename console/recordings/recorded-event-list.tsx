import type {
  RecordedEventList as EventListResponse,
  RecordedEvent,
} from '@eyrie/contract/recording'
import type { ReadonlySignal } from '@preact/signals'
import { computed } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { EventRow } from '../ui/event-row.tsx'
import { capitalize } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import type { TimeSpan } from './playback/recorded-ranges.ts'
import './recorded-event-list.css'

interface RecordedEventListProps {
  /** The events of the day, undefined until they are loaded. */
  list: EventListResponse | undefined
  /** Why the latest request has failed. */
  error: string | undefined
  /** The visible part of the timeline. */
  span: TimeSpan
  /** The displayed time in ms since 1970. */
  position: ReadonlySignal<number | undefined>
  onSelect(event: RecordedEvent): void
}

const MAX_ROWS = 400
/**
 * An event counts as reached this much before its time: the times of an event and of its frame may
 * be rounded differently. Shorter than a frame.
 */
const SAME_FRAME_MS = 20

/** Lists the events in the visible part of the timeline. */
export function RecordedEventList({
  list,
  error,
  span,
  position,
  onSelect,
}: RecordedEventListProps) {
  const events = list?.events ?? []
  const visible = events.filter(event => {
    const timeMs = Date.parse(event.time)
    return timeMs >= span.from && timeMs < span.to
  })
  return (
    <section class="events recorded-events" aria-label="Events">
      <h2>Events {visible.length > 0 && <small>{visible.length}</small>}</h2>
      {error && <Notice error title={`${capitalize(error)}. Retrying…`} />}
      {list && visible.length === 0 && (
        <p class="empty">No events in the visible part of the timeline.</p>
      )}
      {list?.more && (
        <p class="empty">Only the first {events.length} events of this day are listed.</p>
      )}
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
}: Pick<RecordedEventListProps, 'position' | 'onSelect'> & { events: readonly RecordedEvent[] }) {
  // A computed signal, so that the rows are rendered when another event is reached, not for every
  // frame. `useComputed` would ignore new events and another position signal.
  const reachedIndex = useMemo(
    () => computed(() => findReachedIndex(events, position.value)),
    [events, position],
  )
  const currentIndex = reachedIndex.value

  const currentRow = useRef<HTMLLIElement>(null)
  const firstTime = events[0]?.time
  // Scrolls when another row is current, or when it has moved because the list begins at another
  // time. Otherwise users may scroll the list themselves, although it is rendered at each poll.
  useEffect(() => {
    if (currentRow.current) scrollIntoList(currentRow.current)
  }, [currentIndex, firstTime])

  return (
    <ol>
      {events.map((event, index) => {
        const { time, channel, pts, data } = event
        const isCurrent = index === currentIndex
        // A frame may have several events, which only their index distinguishes.
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

/** Returns the index of the last event at or before the playback position, or -1 without one. */
function findReachedIndex(events: readonly RecordedEvent[], timeMs: number | undefined): number {
  if (timeMs === undefined) return -1
  return events.findLastIndex(({ time }) => Date.parse(time) <= timeMs + SAME_FRAME_MS)
}

/** Scrolls the list until the row starts in its middle, unless the whole row is visible. */
function scrollIntoList(row: HTMLElement) {
  const list = row.parentElement
  if (!list) return
  const rowTop = row.offsetTop - list.offsetTop
  const isAbove = rowTop < list.scrollTop
  const isBelow = rowTop + row.clientHeight > list.scrollTop + list.clientHeight
  if (isAbove || isBelow) list.scrollTo({ top: rowTop - list.clientHeight / 2 })
}
