import type { LiveChannel } from '@eyrie/contract/console-api'
import { useEffect, useState } from 'preact/hooks'
import { capitalised } from '../ui/format.ts'
import { Status } from '../ui/status.tsx'
import { CounterCards } from './counter-cards.tsx'
import { EventList } from './event-list.tsx'
import { reasonOf } from './reason.ts'
import { openSession, type Session } from './session.ts'
import { Stage } from './stage.tsx'
import '../ui/view.css'
import './channel-view.css'

/** One channel: its picture, its counts, what happens and how it is doing. */
export function ChannelView({ channel }: { channel: LiveChannel }) {
  const [session, setSession] = useState<Session>()
  useEffect(() => {
    const opened = openSession(channel.id)
    setSession(opened)
    return opened.close
  }, [channel.id])
  if (!session) return null
  const reason = reasonOf(channel)
  const elements = channel.pipeline.elements.join(' › ')

  return (
    <article class="view channel-view">
      <section class="picture">
        <header>
          <h1 title={channel.source.name}>{channel.source.name}</h1>
          <Status of={channel} />
          <p class="elements" title={elements}>
            {elements}
          </p>
          {reason && <p class="reason">{capitalised(reason)}</p>}
        </header>
        <Stage channel={channel} session={session} />
      </section>
      <CounterCards counters={session.counters} shapes={channel.shapes} />
      <EventList events={session.events} lost={session.lost} />
    </article>
  )
}
