import type { ReadonlySignal } from '@preact/signals'
import { capitalised, timeOfDay } from '../ui/format.ts'
import { classColour } from './colours.ts'
import type { ChannelEvent } from './session.ts'
import './event-list.css'

interface EventListProps {
  events: ReadonlySignal<readonly ChannelEvent[]>
  lost: ReadonlySignal<string | undefined>
}

/** What has happened since the page was opened, the newest first. */
export function EventList({ events, lost }: EventListProps) {
  return (
    <section class="event-list" aria-label="Events">
      <h2>Events</h2>
      {lost.value && <p class="lost">{capitalised(lost.value)}, retrying</p>}
      {events.value.length === 0 && <p class="empty">Events appear here as they happen.</p>}
      <ol>
        {events.value.map(event => (
          <li key={event.seq}>
            <time dateTime={event.time}>{timeOfDay(event.time)}</time>
            <span class="what">
              {event.name && <b>{event.name} </b>}
              {words(event.type)} {event.direction}
            </span>
            {event.class && (
              <span class="who" style={{ '--class': classColour(event.class) }}>
                {event.class} {event.track}
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

const words = (type: string) => type.replaceAll('-', ' ')
