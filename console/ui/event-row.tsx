import type { EventData } from '@eyrie/contract/object'
import { classColour } from './class-color.ts'
import { timeOfDay } from './format.ts'
import './events.css'

/** When, what and who: the cells of a row in a list of events. */
export function EventRow({ time, event }: { time: string; event: EventData }) {
  return (
    <>
      <time dateTime={time}>{timeOfDay(time)}</time>
      <span class="what">
        {event.name && <b>{event.name} </b>}
        {event.type.replaceAll('-', ' ')} {event.direction}
      </span>
      {event.class && (
        <span class="who" style={{ '--class': classColour(event.class) }}>
          {event.class} {event.track}
        </span>
      )}
    </>
  )
}
