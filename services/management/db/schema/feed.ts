import {
  bigint,
  boolean,
  date,
  doublePrecision,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { channel } from './channel.ts'
import { createdAt, instant } from './columns.ts'

/** The channel of Postgres on which new messages of the live feed are announced. */
export const FEED_CHANNEL = 'eyrie_feed'

/**
 * A message of the live feed, written in the transaction of its cause. At the commit, a deferred
 * trigger assigns `position` while it holds a lock, so that positions become visible in ascending
 * order: a reader that has read a position never misses a smaller one. The first position after a
 * migration or a restore is the time in ms, which is higher than every position before.
 */
export const liveMessage = pgTable(
  'live_message',
  {
    message_key: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Null until the transaction commits. */
    position: bigint({ mode: 'number' }).unique('live_message_by_position'),
    kind: text().notNull(),
    // At most one of these ids is set: the message is sent to users who may see this record.
    // Without one, only the scheduler gets it.
    channel_id: uuid(),
    source_id: uuid(),
    engine_id: uuid(),
    /** Sites that the record belongs to. */
    site_ids: uuid().array().notNull().default([]),
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    created_at: createdAt(),
  },
  table => [index('live_message_by_age').on(table.created_at)],
)

/** The current values of the statistics of a channel. The live feed publishes the changed ones. */
export const liveCount = pgTable(
  'live_count',
  {
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    key: text().notNull(),
    /** The day in the time zone of the site to which `sum` and `count` belong. */
    day: date().notNull(),
    sum: doublePrecision().notNull(),
    count: bigint({ mode: 'number' }).notNull(),
    /** The newest value. */
    last: doublePrecision().notNull(),
    /** The time of `last`. */
    last_at: instant().notNull(),
    /** Whether the values have changed since they were published. */
    is_changed: boolean().notNull().default(true),
  },
  table => [primaryKey({ columns: [table.channel_id, table.key] })],
)
