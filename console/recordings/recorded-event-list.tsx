import type { RecordedEvent } from '@eyrie/contract/recording'
import type { ReadonlySignal } from '@preact/signals'
import { useComputed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { EventRow } from '../ui/event-row.tsx'
import type { Span } from './timeline/timeline-scale.ts'
import './recorded-event-list.css'

interface DayEventsProps {
  events: readonly RecordedEvent[]
  /** There are more of the day than could be read at once. */
  more: boolean
  span: Span
  position: ReadonlySignal<number | undefined>
  onChoose(event: RecordedEvent): void
}

/** More are not looked through by anybody; who zooms in sees all. */
const MOST = 400
/** An event's time and that of its picture are rounded in different places; pictures are further apart. */
const SAME_PICTURE_MS = 20

/** What has happened in the time that the timeline shows. */
export function DayEvents({ events, more, span, position, onChoose }: DayEventsProps) {
  const seen = events.filter(({ time }) => Date.parse(time) >= span.from && Date.parse(time) < span.to)
  const listed = seen.slice(0, MOST)
  return (
    <section class="events day-events" aria-label="Events">
      <h2>
        Events <small>{seen.length > 0 && seen.length}</small>
      </h2>
      {seen.length === 0 && <p class="empty">Nothing has happened in the time that is shown above.</p>}
      {(seen.length > MOST || more) && (
        <p class="empty">
          {more ? 'The first of this day. ' : ''}
          {seen.length > MOST && `The first ${MOST} of this time: zoom in to see others.`}
        </p>
      )}
      <List listed={listed} position={position} onChoose={onChoose} />
    </section>
  )
}

function List({
  listed,
  position,
  onChoose,
}: Pick<DayEventsProps, 'position' | 'onChoose'> & { listed: readonly RecordedEvent[] }) {
  const shown = useRef(listed)
  shown.current = listed
  // Only when another event is reached is the list drawn anew.
  const reached = useComputed(() => {
    const at = position.value
    return at === undefined
      ? -1
      : shown.current.findLastIndex(({ time }) => Date.parse(time) <= at + SAME_PICTURE_MS)
  }).value
  const current = useRef<HTMLLIElement>(null)
  useEffect(() => {
    const [item, list] = [current.current, current.current?.parentElement]
    if (!item || !list) return
    const top = item.offsetTop - list.offsetTop
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - item.clientHeight)
      list.scrollTo({ top: top - list.clientHeight / 2 })
  })
  return (
    <ol>
      {listed.map((event, index) => {
        const { time, channel, pts, data } = event
        return (
          <li key={`${time} ${channel} ${pts} ${index}`} ref={index === reached ? current : null}>
            <button
              type="button"
              class="event"
              aria-current={index === reached ? 'true' : undefined}
              onClick={() => onChoose(event)}
            >
              <EventRow time={time} event={data} />
            </button>
          </li>
        )
      })}
    </ol>
  )
}
