import { sql } from 'drizzle-orm'
import { bigint, check, index, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
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
    epoch: text(),
    data: jsonb().notNull(),
    /** SHA-256 of the picture, kept beside the database. */
    picture: text(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.log_id, table.seq, table.time] }),
    index('event_by_channel').on(table.channel_id, table.time),
    check('event_kind_values', sql`${table.kind} in ('event', 'count', 'state')`),
  ],
)
