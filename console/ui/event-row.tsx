import type { EventData } from '@eyrie/contract/object'
import { classColor } from './class-color.ts'
import { formatTimeOfDay } from './format.ts'
import './events.css'

/** The cells of an event: its time, what happened and which object caused it. */
export function EventRow({ time, event }: { time: string; event: EventData }) {
  return (
    <>
      <time dateTime={time}>{formatTimeOfDay(time)}</time>
      <span class="summary">
        {event.name && <b>{event.name} </b>}
        {event.type.replaceAll('-', ' ')} {event.direction}
      </span>
      {event.class && (
        <span class="object" style={{ '--class': classColor(event.class) }}>
          {event.class} {event.track}
        </span>
      )}
    </>
  )
}
