import type { LiveChannel } from '@eyrie/contract/console-api'
import { useEffect, useState } from 'preact/hooks'
import { CounterCards } from '../ui/counter-cards.tsx'
import { EventRow } from '../ui/event-row.tsx'
import { capitalize } from '../ui/format.ts'
import { type ChannelOutput, openChannelOutput } from './channel-output.ts'
import { ChannelStatus, describeAdvice, describeProblem } from './channel-status.tsx'
import { LiveVideo } from './live-video.tsx'
import '../ui/view.css'
import './channel-view.css'

/** Live video, counters and events of one channel. */
export function ChannelView({ channel }: { channel: LiveChannel }) {
  const [output, setOutput] = useState<ChannelOutput>()
  useEffect(() => {
    const opened = openChannelOutput(channel.id)
    setOutput(opened)
    return opened.close
  }, [channel.id])
  if (!output) return null
  const problem = describeProblem(channel)
  const advice = describeAdvice(channel)
  const elements = channel.pipeline.elements.join(' › ')

  return (
    <article class="view channel-view">
      <section class="picture">
        <header>
          <h1 title={channel.source.name}>{channel.source.name}</h1>
          <ChannelStatus channel={channel} />
          <p class="elements" title={elements}>
            {elements}
          </p>
          {problem && <p class="problem">{capitalize(problem)}</p>}
          {advice && <p class="advice">{advice}</p>}
        </header>
        <LiveVideo channel={channel} output={output} />
      </section>
      <CounterCards counters={output.counters} shapes={channel.shapes} />
      <EventList output={output} />
    </article>
  )
}

/** Events since the page was opened, newest first. */
function EventList({ output: { events, connectionError } }: { output: ChannelOutput }) {
  return (
    <section class="events" aria-label="Events">
      <h2>Events</h2>
      {connectionError.value && (
        <p class="connection-error">{capitalize(connectionError.value)}. Retrying…</p>
      )}
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
