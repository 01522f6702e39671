import type { EventData } from '@eyrie/contract/object'
import { getClassColor } from './class-color.ts'
import { formatOwnFields } from './event-fields.ts'
import { formatTimeOfDay } from './format.ts'
import './events.css'

/**
 * An event in a list: its time, a summary, the object that caused it, and the fields that
 * an element has added.
 */
export function EventRow({ time, event }: { time: string; event: EventData }) {
  const fields = formatOwnFields(event)
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
      {fields.length > 0 && <span class="fields">{fields.join(' · ')}</span>}
    </>
  )
}
