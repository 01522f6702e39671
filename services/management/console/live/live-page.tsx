import type { LiveChannel } from '@eyrie/contract/console-api'
import { usePolled } from '../api/poll.ts'
import { Notice, Unreachable } from '../ui/notice.tsx'
import { useTitle } from '../ui/title.ts'
import { ChannelList } from './channel-list.tsx'
import { ChannelView } from './channel-view.tsx'
import '../ui/page.css'

const CHANNELS_EVERY_MS = 2_000

/** All channels beside one of them in large: the selected one, else the first. */
export function LivePage({ selected }: { selected?: number }) {
  const { data: channels, error } = usePolled<LiveChannel[]>('/live/channels', CHANNELS_EVERY_MS).value
  const channel = selected === undefined ? channels?.[0] : channels?.find(({ id }) => id === selected)
  useTitle(channel?.source.name ?? 'Live')
  if (!channels) return error ? <Unreachable reason={error} /> : <Notice title="Connecting…" />
  if (channels.length === 0) return error ? <Unreachable reason={error} /> : <NoChannel />

  return (
    <div class={channels.length > 1 ? 'page' : 'page single'}>
      {error && <Unreachable reason={error} isStale />}
      {channels.length > 1 && <ChannelList channels={channels} current={channel?.id} />}
      {channel ? (
        <ChannelView key={channel.id} channel={channel} />
      ) : (
        <Notice title={`There is no channel ${selected}`}>It may have been removed. Choose another.</Notice>
      )}
    </div>
  )
}

const NoChannel = () => (
  <Notice title="No channel yet">
    Start with a camera or a file, <code>make run SOURCE=rtsp://camera/stream</code>, or with several:{' '}
    <code>./eyrie deploy cameras.yaml</code>
  </Notice>
)
