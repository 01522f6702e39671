import type { LiveChannel } from '@eyrie/contract/console-api'
import { useEffect, useState } from 'preact/hooks'
import { formatFigure } from '../ui/format.ts'
import { Link } from '../ui/router.tsx'
import { SideList } from '../ui/side-list.tsx'
import { ChannelStatus } from './channel-status.tsx'
import './channel-list.css'

/** Links to all channels, each with a snapshot and its status. */
export function ChannelList({
  channels,
  current,
}: {
  channels: LiveChannel[]
  current: number | undefined
}) {
  return (
    <SideList class="channel-list" label="Channels" current={current}>
      {channels.map(channel => (
        <Link key={channel.id} to={`/channels/${channel.id}`} current={channel.id === current}>
          <ChannelEntry channel={channel} />
        </Link>
      ))}
    </SideList>
  )
}

function ChannelEntry({ channel }: { channel: LiveChannel }) {
  const { stream, status, source, fps } = channel
  /** The source counts its attempts to reconnect while it is lost. */
  const isLost = source.attempts !== undefined
  return (
    <>
      {stream !== null && status !== 'failed' && (
        // The changed key remounts the component, which loads a new snapshot after a reconnect.
        <Snapshot key={isLost ? 'lost' : 'connected'} stream={stream} isLost={isLost} />
      )}
      <span class="name" title={source.name}>
        {source.name}
      </span>
      <span class="details">
        <ChannelStatus channel={channel} />
        {fps > 0 && <span>{formatFigure(fps)} fps</span>}
      </span>
    </>
  )
}

/** A stream has no image yet while its source starts, and media limits the images at a time. */
const SNAPSHOT_RETRY_MS = 5_000

/**
 * A still image of the small stream, loaded once. Its space is empty while the source is
 * lost or has no image.
 */
function Snapshot({ stream, isLost }: { stream: number; isLost: boolean }) {
  const [hasImage, setHasImage] = useState(!isLost)
  useEffect(() => {
    if (hasImage || isLost) return
    const timer = setTimeout(() => setHasImage(true), SNAPSHOT_RETRY_MS)
    return () => clearTimeout(timer)
  }, [hasImage, isLost])
  return (
    <span class="snapshot">
      {hasImage && (
        <img
          src={`/live/streams/${stream}/snapshot.jpg?size=small`}
          alt=""
          loading="lazy"
          onError={() => setHasImage(false)}
        />
      )}
    </span>
  )
}
