import type { LiveChannel } from '@eyrie/contract/console-api'
import { usePolling } from '../api/use-polling.ts'
import { isLimitedToAssignments } from '../api/user-session.ts'
import { Notice, Unreachable } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/router.tsx'
import { ChannelList } from './channel-list.tsx'
import { ChannelView } from './channel-view.tsx'
import '../ui/page.css'

const CHANNELS_INTERVAL_MS = 2_000

/** The selected channel, by default the first, next to a list of all channels. */
export function LivePage({ selected }: { selected?: number }) {
  const { data: channels, error } = usePolling<LiveChannel[]>(
    '/live/channels',
    CHANNELS_INTERVAL_MS,
  ).value
  const channel =
    selected === undefined ? channels?.[0] : channels?.find(({ id }) => id === selected)
  usePageTitle(channel?.source.name ?? 'Live')
  if (!channels) return error ? <Unreachable reason={error} /> : <Notice title="Connecting…" />
  if (channels.length === 0) return error ? <Unreachable reason={error} /> : <NoChannels />

  return (
    <div class={channels.length > 1 ? 'page' : 'page single'}>
      {error && <Unreachable reason={error} isStale />}
      {channels.length > 1 && <ChannelList channels={channels} current={channel?.id} />}
      {channel ? (
        <ChannelView key={channel.id} channel={channel} />
      ) : (
        <Notice title={`Channel ${selected} does not exist`}>
          It may have been removed. Select another channel.
        </Notice>
      )}
    </div>
  )
}

function NoChannels() {
  if (isLimitedToAssignments()) {
    return (
      <Notice title="No channels are assigned to you">
        An administrator can assign channels, sites or customers to you.
      </Notice>
    )
  }
  return (
    <Notice title="No channels yet">
      Start with a camera or a file: <code>make run SOURCE=rtsp://camera/stream</code>. For several
      cameras, run <code>./eyrie deploy cameras.yaml</code>.
    </Notice>
  )
}
