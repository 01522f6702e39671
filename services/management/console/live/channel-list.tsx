import type { LiveChannel } from '@eyrie/contract/console-api'
import { useState } from 'preact/hooks'
import { rate } from '../ui/format.ts'
import { Link } from '../ui/router.tsx'
import { SideList } from '../ui/side-list.tsx'
import { Status } from '../ui/status.tsx'
import './channel-list.css'

export function ChannelList({ channels, current }: { channels: LiveChannel[]; current: number | undefined }) {
  return (
    <SideList class="channel-list" label="Channels" current={current}>
      {channels.map(channel => (
        <Link key={channel.id} to={`/channels/${channel.id}`} current={channel.id === current}>
          {channel.stream !== null && channel.status !== 'failed' && (
            <Snapshot
              key={channel.source.attempts === undefined ? 'sending' : 'lost'}
              stream={channel.stream}
              isLost={channel.source.attempts !== undefined}
            />
          )}
          <span class="name" title={channel.source.name}>
            {channel.source.name}
          </span>
          <span class="details">
            <Status of={channel} />
            {channel.fps > 0 && <span>{rate(channel.fps)} fps</span>}
          </span>
        </Link>
      ))}
    </SideList>
  )
}

/** The picture as it was when the list was opened, or its source came back; where there is none, its place is left empty. */
function Snapshot({ stream, isLost }: { stream: number; isLost: boolean }) {
  const [isThere, setThere] = useState(!isLost)
  return (
    <span class="snapshot">
      {isThere && (
        <img
          src={`/live/streams/${stream}/snapshot.jpg`}
          alt=""
          loading="lazy"
          onError={() => setThere(false)}
        />
      )}
    </span>
  )
}
