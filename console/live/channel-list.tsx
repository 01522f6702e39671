import type { LiveChannel } from '@eyrie/contract/console-api'
import { useState } from 'preact/hooks'
import { formatRate } from '../ui/format.ts'
import { Link } from '../ui/router.tsx'
import { SideList } from '../ui/side-list.tsx'
import { ChannelStatus } from './channel-status.tsx'
import './channel-list.css'

export function ChannelList({ channels, current }: { channels: LiveChannel[]; current: number | undefined }) {
  return (
    <SideList class="channel-list" label="Channels" current={current}>
      {channels.map(channel => (
        <Link key={channel.id} to={`/channels/${channel.id}`} current={channel.id === current}>
          {channel.stream !== null && channel.status !== 'failed' && (
            // The key mounts it anew, with a new snapshot, when the source is connected again.
            <Snapshot
              key={channel.source.attempts === undefined ? 'connected' : 'lost'}
              stream={channel.stream}
              isLost={channel.source.attempts !== undefined}
            />
          )}
          <span class="name" title={channel.source.name}>
            {channel.source.name}
          </span>
          <span class="details">
            <ChannelStatus channel={channel} />
            {channel.fps > 0 && <span>{formatRate(channel.fps)} fps</span>}
          </span>
        </Link>
      ))}
    </SideList>
  )
}

/** A still image, taken when it is mounted. Without an image, its space stays empty. */
function Snapshot({ stream, isLost }: { stream: number; isLost: boolean }) {
  const [hasImage, setHasImage] = useState(!isLost)
  return (
    <span class="snapshot">
      {hasImage && (
        <img
          src={`/live/streams/${stream}/snapshot.jpg`}
          alt=""
          loading="lazy"
          onError={() => setHasImage(false)}
        />
      )}
    </span>
  )
}
