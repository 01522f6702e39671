import { EyrieError } from '@eyrie/contract/errors'
import type { FeedEvent, FeedKind } from '@eyrie/contract/management/feed'
import type { Log } from '@eyrie/kit'
import type { Database } from '../../db/database.ts'
import { readBounds, type StoredFeedMessage, toFeedMessage } from '../../feed/feed-log.ts'
import type { LiveFeed } from '../../feed/live-feed.ts'
import type { FeedAccess } from './feed-access.ts'

/** A heartbeat is sent after this time without a message. It shows that the connection works. */
export const HEARTBEAT_MS = 15_000

/** Selects the messages that a client wants. Undefined fields select all messages. */
export interface FeedFilter {
  channel_id?: string | undefined
  site_id?: string | undefined
  feed_kinds?: readonly FeedKind[] | undefined
}

export interface FollowOptions {
  feed: LiveFeed
  database(): Database
  /**
   * Position of the last message that the client has received. Undefined: only new messages are
   * sent.
   */
  after: number | undefined
  filter: FeedFilter
  access: FeedAccess
  /** Ends the feed. */
  signal: AbortSignal
  heartbeatMs?: number
}

/**
 * Yields the messages that a client receives, in batches. Each message is yielded once, in order. A
 * batch is read only when the consumer asks for it, so that nothing piles up for a slow client.
 * Throws `EyrieError` when the client must not receive more.
 */
export async function* followFeed(options: FollowOptions): AsyncGenerator<FeedEvent[]> {
  const { feed, database, after, filter, access, signal, heartbeatMs = HEARTBEAT_MS } = options
  const { first, last } = await readBounds(database())
  // Another server has assigned a position out of bounds, or messages after it have expired.
  const isUnknownPosition = after !== undefined && (after < first || after > last)
  let position = after === undefined || isUnknownPosition ? last : after
  yield [createStatusEvent(isUnknownPosition ? 'reset' : 'ready', position)]

  let sentAtMs = Date.now()
  while (!signal.aborted) {
    if (feed.stopped.aborted) {
      throw new EyrieError('unavailable', 'management is stopping: connect again')
    }
    const isVisible = await access.createFilter()
    const stored = await feed.read(database(), position)
    if (stored === 'expired') {
      position = (await readBounds(database())).last
      yield [createStatusEvent('reset', position)]
      continue
    }

    position = stored.at(-1)?.position ?? position
    const selected = stored.filter(message => isVisible(message) && isSelected(message, filter))
    const messages = selected.flatMap(message => toFeedMessage(message) ?? [])
    const idleMs = Date.now() - sentAtMs
    if (messages.length > 0) {
      sentAtMs = Date.now()
      yield messages
    } else if (idleMs >= heartbeatMs) {
      sentAtMs = Date.now()
      yield [createStatusEvent('heartbeat', position)]
    } else if (stored.length === 0) {
      await feed.waitForMessages(position, heartbeatMs - idleMs, signal)
    }
  }
}

/**
 * Creates an event about the connection itself. After `reset`, the client must read the
 * current state again.
 */
const createStatusEvent = (kind: 'ready' | 'reset' | 'heartbeat', position: number) => ({
  id: String(position),
  kind,
})

function isSelected(
  message: StoredFeedMessage,
  { channel_id: channelId, site_id: siteId, feed_kinds: feedKinds }: FeedFilter,
): boolean {
  return (
    (channelId === undefined || message.channel_id === channelId) &&
    (siteId === undefined || message.site_ids.includes(siteId)) &&
    (feedKinds === undefined || feedKinds.some(kind => kind === message.kind))
  )
}

/**
 * Returns the last event of a feed that has failed, with the reason. The message of an internal
 * error is logged and not sent.
 */
export function toEndEvent(error: unknown, log: Pick<Log, 'error'>): FeedEvent {
  if (error instanceof EyrieError) return { kind: 'end', code: error.code, reason: error.message }
  log.error({ err: error }, 'failed to send live feed')
  return { kind: 'end', code: 'internal', reason: 'an internal error occurred: connect again' }
}
