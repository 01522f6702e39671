import { FEED_KINDS, type FeedKind, type FeedMessage } from '@eyrie/contract/management/feed'
import { and, asc, gt, lt, sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { liveMessage } from '../db/schema/index.ts'

// The live feed is a log of messages, each with a position. Clients that reconnect read the
// messages after the last position that they have received.

/** How long messages are retained. */
export const FEED_WINDOW_MS = 15 * 60_000

/** A stored message of the feed. */
export interface StoredFeedMessage {
  position: number
  kind: string
  // At most one of these ids is set: the record that the message is about.
  channel_id: string | null
  source_id: string | null
  engine_id: string | null
  /** The sites to which the record belongs. */
  site_ids: string[]
  data: Record<string, unknown>
  created_at: Date
}

/**
 * The first and the last stored position. A client whose last position is between them can
 * receive all messages that followed it.
 */
export interface FeedBounds {
  first: number
  last: number
}

const columns = {
  // The column is null only until the transaction commits.
  position: sql<number>`${liveMessage.position}`.mapWith(Number),
  kind: liveMessage.kind,
  channel_id: liveMessage.channel_id,
  source_id: liveMessage.source_id,
  engine_id: liveMessage.engine_id,
  site_ids: liveMessage.site_ids,
  data: liveMessage.data,
  created_at: liveMessage.created_at,
}

/** Returns committed messages after a position in ascending order. */
export const readMessages = (
  database: Database,
  after: number,
  limit: number,
): Promise<StoredFeedMessage[]> =>
  database.system(
    'live feed',
    tx =>
      tx
        .select(columns)
        .from(liveMessage)
        .where(gt(liveMessage.position, after))
        .orderBy(asc(liveMessage.position))
        .limit(limit),
    { accessMode: 'read only' },
  )

/** Returns the bounds of the stored messages. There is always at least one. */
export async function readBounds(database: Database): Promise<FeedBounds> {
  const rows = await database.system(
    'live feed',
    tx =>
      tx
        .select({
          first: sql<number>`min(${liveMessage.position})`.mapWith(Number),
          last: sql<number>`max(${liveMessage.position})`.mapWith(Number),
        })
        .from(liveMessage),
    { accessMode: 'read only' },
  )
  return firstRow(rows)
}

/**
 * Deletes messages that are older than the window, except the newest message, which marks
 * the end of the feed.
 */
export const expireMessages = (database: Database): Promise<unknown> =>
  database.system('live feed', tx =>
    tx
      .delete(liveMessage)
      .where(
        and(
          lt(liveMessage.created_at, sql`now() - ${FEED_WINDOW_MS} * interval '1 millisecond'`),
          lt(liveMessage.position, sql`(select max(position) from live_message)`),
        ),
      ),
  )

/**
 * Returns a message as clients receive it. Returns undefined for a message of a kind that only the
 * scheduler receives.
 */
export function toFeedMessage(stored: StoredFeedMessage): FeedMessage | undefined {
  const { position, kind, channel_id, source_id, engine_id, data, created_at } = stored
  if (!isFeedKind(kind)) return undefined
  const id = String(position)
  return { id, kind, time: created_at.toISOString(), channel_id, source_id, engine_id, data }
}

const isFeedKind = (kind: string): kind is FeedKind =>
  (FEED_KINDS as readonly string[]).includes(kind)
