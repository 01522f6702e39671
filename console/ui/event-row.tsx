import type { EventData } from '@eyrie/contract/object'
import { getClassColor } from './class-color.ts'
import { formatTimeOfDay } from './format.ts'
import './events.css'

/** An event in a list: its time, a summary, and the object that caused it. */
export function EventRow({ time, event }: { time: string; event: EventData }) {
  return (
    <>
      <time dateTime={time}>{formatTimeOfDay(time)}</time>
      <span class="summary">
        {event.name && <b>{event.name} </b>}
        {event.type.replaceAll('-', ' ')} {event.direction}
      </span>
      {event.class && (
        <span class="object" style={{ '--class': getClassColor(event.class) }}>
          {event.class} {event.track}
        </span>
      )}
    </>
  )
}
