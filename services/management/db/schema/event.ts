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
 * Durable messages of the engines' output (`event`, `count`, `state`), partitioned by time: a unique key has to contain
 * the partition key, and the same message always has the same time. No foreign keys: what happened outlives the channel.
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
    /** Of kind `event`: what happened, such as `line-crossing`. */
    type: text(),
    pts: bigint({ mode: 'number' }),
    epoch: bigint({ mode: 'number' }),
    data: jsonb().notNull(),
    /** What it adds to statistics, by key; null: nothing. */
    statistics: jsonb().$type<Record<string, number>>(),
    /** SHA-256 of the picture, kept beside the database. */
    picture: text(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.log_id, table.seq, table.time] }),
    index('event_by_channel').on(table.channel_id, table.time),
    check('event_kind_values', sql`${table.kind} in ('event', 'count', 'state')`),
  ],
)

/** Statistics of channels by minute, of which those of long periods are made. They go with the events. */
export const statisticMinute = pgTable(
  'statistic_minute',
  {
    channel_id: uuid().notNull(),
    key: text().notNull(),
    minute: instant().notNull(),
    sum: doublePrecision().notNull(),
    count: bigint({ mode: 'number' }).notNull(),
    /** The newest value within the minute, and its moment. */
    last: doublePrecision().notNull(),
    last_at: instant().notNull(),
  },
  table => [
    primaryKey({ columns: [table.channel_id, table.key, table.minute] }),
    index('statistic_minute_by_age').on(table.minute),
  ],
)

/** What a channel has counted last, so that what a counter has grown by can be told. */
export const channelCounter = pgTable(
  'channel_counter',
  {
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    /** Of the line or zone. */
    name: text().notNull(),
    key: text().notNull(),
    value: doublePrecision().notNull(),
    /** When it was counted. */
    at: instant().notNull(),
  },
  table => [primaryKey({ columns: [table.channel_id, table.name, table.key] })],
)

/** Pictures that notifications need: first to be fetched from the engine, then kept as files. */
export const picture = pgTable(
  'picture',
  {
    sha256: text().primaryKey(),
    /** No foreign key: the file of a picture goes when it is old, though its engine is managed no longer. */
    engine_id: uuid().notNull(),
    time: instant().notNull(),
    /** As long as events are kept; else only until it has been sent. */
    is_stored: boolean().notNull(),
    fetched_at: instant(),
    attempts: integer().notNull().default(0),
    /** When it is to be tried next; null: it is here, or cannot be had. */
    next_attempt: instant(),
  },
  table => [index('picture_to_fetch').on(table.next_attempt), index('picture_by_age').on(table.time)],
)
