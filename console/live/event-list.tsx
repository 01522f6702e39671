import type { ReadonlySignal } from '@preact/signals'
import { EventRow } from '../ui/event-row.tsx'
import { capitalised } from '../ui/format.ts'
import type { ChannelEvent } from './channel-output.ts'

interface EventListProps {
  events: ReadonlySignal<readonly ChannelEvent[]>
  lost: ReadonlySignal<string | undefined>
}

/** What has happened since the page was opened, the newest first. */
export function EventList({ events, lost }: EventListProps) {
  return (
    <section class="events" aria-label="Events">
      <h2>Events</h2>
      {lost.value && <p class="lost">{capitalised(lost.value)}, retrying</p>}
      {events.value.length === 0 && <p class="empty">Events appear here as they happen.</p>}
      <ol>
        {events.value.map(event => (
          <li key={event.seq} class="event">
            <EventRow time={event.time} event={event} />
          </li>
        ))}
      </ol>
    </section>
  )
}
