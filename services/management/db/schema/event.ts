import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { channel } from './channel.ts'
import { instant } from './columns.ts'

/**
 * Durable messages of the engines' output (`event`, `count`, `state`), partitioned by week. The primary key includes the
 * time because it must contain the partition key; the time of a message never changes. No foreign keys: events are
 * retained when their channel is deleted.
 */
export const event = pgTable(
  'event',
  {
    engine_id: uuid().notNull(),
    log_id: text().notNull(),
    seq: bigint({ mode: 'number' }).notNull(),
    time: instant().notNull(),
    channel_id: uuid().notNull(),
    kind: text().notNull(),
    /** The type of an `event`, such as `line-crossing`. */
    type: text(),
    pts: bigint({ mode: 'number' }),
    epoch: bigint({ mode: 'number' }),
    data: jsonb().notNull(),
    /** Its contribution to statistics by key; null: none. */
    statistics: jsonb().$type<Record<string, number>>(),
    /** SHA-256 of the picture, which is stored as a file. */
    picture: text(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.log_id, table.seq, table.time] }),
    index('event_by_channel').on(table.channel_id, table.time),
    check('event_kind_values', sql`${table.kind} in ('event', 'count', 'state')`),
  ],
)

/** Statistics of channels by minute, from which longer periods are aggregated. They expire with the events. */
export const statisticMinute = pgTable(
  'statistic_minute',
  {
    channel_id: uuid().notNull(),
    key: text().notNull(),
    minute: instant().notNull(),
    sum: doublePrecision().notNull(),
    count: bigint({ mode: 'number' }).notNull(),
    /** The newest value within the minute, and its time. */
    last: doublePrecision().notNull(),
    last_at: instant().notNull(),
  },
  table => [
    primaryKey({ columns: [table.channel_id, table.key, table.minute] }),
    index('statistic_minute_by_age').on(table.minute),
  ],
)

/** The last values of a channel's counters, from which increments are computed. */
export const channelCounter = pgTable(
  'channel_counter',
  {
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    /** The name of the line or zone. */
    name: text().notNull(),
    key: text().notNull(),
    value: doublePrecision().notNull(),
    /** The time of the value. */
    at: instant().notNull(),
  },
  table => [primaryKey({ columns: [table.channel_id, table.name, table.key] })],
)

/** Pictures of notifications, which are fetched from the engine and stored as files. */
export const picture = pgTable(
  'picture',
  {
    sha256: text().primaryKey(),
    /** No foreign key: the file of a picture expires even after its engine is deleted. */
    engine_id: uuid().notNull(),
    time: instant().notNull(),
    /** Whether it is retained as long as events; otherwise only until it is sent. */
    is_stored: boolean().notNull(),
    fetched_at: instant(),
    attempts: integer().notNull().default(0),
    /** When to fetch it next; null: fetched, or not available. */
    next_attempt: instant(),
  },
  table => [index('picture_to_fetch').on(table.next_attempt), index('picture_by_age').on(table.time)],
)
