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
import { engine } from './engine.ts'

/**
 * A message of an engine's output log that is retained: an event, a count or a state change of a
 * channel. The table is partitioned by week, for which its primary key must contain the time: the
 * other columns alone are unique. It has no foreign keys, because events outlive their channel.
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
    /** Timestamp of the video frame that the message refers to, within the run `epoch`. */
    pts: bigint({ mode: 'number' }),
    /** The run of the media service. Timestamps start over with each run. */
    epoch: bigint({ mode: 'number' }),
    data: jsonb().notNull(),
    /** The values that the message adds to statistics, by key; null if there are none. */
    statistics: jsonb().$type<Record<string, number>>(),
    /** SHA-256 of the frame's picture, which is stored as a file. */
    picture: text(),
    /**
     * Milliseconds from the event to its picture, negative if the picture is older. Null if the
     * picture shows the frame of the event itself, and without a picture.
     */
    picture_offset: integer(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.log_id, table.seq, table.time] }),
    index('event_by_channel').on(table.channel_id, table.time),
    check('event_kind_values', sql`${table.kind} in ('event', 'count', 'state')`),
  ],
)

/** The values of a statistic of a channel within a minute or hour, combined. */
const combinedValues = () => ({
  sum: doublePrecision().notNull(),
  count: bigint({ mode: 'number' }).notNull(),
  /** The newest value. */
  last: doublePrecision().notNull(),
  /** The time of the newest value. */
  last_at: instant().notNull(),
})

/**
 * A statistic of a channel during one minute, from which statistics of longer periods are
 * aggregated. Rows are deleted at the same age as events.
 */
export const statisticMinute = pgTable(
  'statistic_minute',
  {
    channel_id: uuid().notNull(),
    key: text().notNull(),
    minute: instant().notNull(),
    ...combinedValues(),
  },
  table => [
    primaryKey({ columns: [table.channel_id, table.key, table.minute] }),
    index('statistic_minute_by_age').on(table.minute),
  ],
)

/**
 * A statistic of a channel during one hour of UTC, from which statistics of days and
 * months are aggregated.
 */
export const statisticHour = pgTable(
  'statistic_hour',
  {
    channel_id: uuid().notNull(),
    key: text().notNull(),
    hour: instant().notNull(),
    ...combinedValues(),
  },
  table => [
    primaryKey({ columns: [table.channel_id, table.key, table.hour] }),
    index('statistic_hour_by_age').on(table.hour),
  ],
)

/**
 * The last value of a counter that an engine reported. The difference to the next value is added to
 * the statistics. Engines count independently of each other, so a channel that was moved has
 * counters of several engines.
 */
export const channelCounter = pgTable(
  'channel_counter',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    /** The name of the line or zone that is counted at. */
    name: text().notNull(),
    /** Key of the statistic, such as `up`. */
    key: text().notNull(),
    value: doublePrecision().notNull(),
    /** When the engine reported the value. */
    at: instant().notNull(),
  },
  table => [primaryKey({ columns: [table.channel_id, table.engine_id, table.name, table.key] })],
)

/** The picture of a notification. It is fetched from the engine and stored as a file. */
export const picture = pgTable(
  'picture',
  {
    sha256: text().primaryKey(),
    /**
     * Not a foreign key, because the row is needed to delete the file even if the
     * engine no longer exists.
     */
    engine_id: uuid().notNull(),
    time: instant().notNull(),
    /**
     * Whether the file is retained for as long as events, and not only until the
     * notification is sent.
     */
    is_stored: boolean().notNull(),
    fetched_at: instant(),
    attempts: integer().notNull().default(0),
    /** When to fetch the picture; null if it has been fetched or is unavailable. */
    next_attempt: instant(),
  },
  table => [
    index('picture_to_fetch').on(table.next_attempt),
    index('picture_by_age').on(table.time),
  ],
)
