import type { LiveChannel } from '@eyrie/contract/live'
import { rate } from '../ui/format.ts'
import { Link } from '../ui/router.tsx'
import { Status } from '../ui/status.tsx'
import '../ui/side-list.css'
import './channel-list.css'

export function ChannelList({ channels, current }: { channels: LiveChannel[]; current: number | undefined }) {
  return (
    <nav class="side-list channel-list" aria-label="Channels">
      {channels.map(channel => (
        <Link key={channel.id} to={`/channels/${channel.id}`} current={channel.id === current}>
          {channel.stream !== null && channel.status !== 'failed' && (
            <img src={`/live/streams/${channel.stream}/snapshot.jpg`} alt="" loading="lazy" />
          )}
          <span class="name">{channel.source.name}</span>
          <span class="details">
            <Status of={channel.status} />
            {channel.fps > 0 && <span>{rate(channel.fps)} fps</span>}
          </span>
        </Link>
      ))}
    </nav>
  )
}
