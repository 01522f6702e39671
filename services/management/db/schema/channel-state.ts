import { boolean, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, optionalText } from './columns.ts'
import { channel } from './device.ts'

/** What was last heard of a channel from its engine. */
export const channelState = pgTable('channel_state', {
  channel_id: uuid()
    .primaryKey()
    .references(() => channel.channel_id, { onDelete: 'cascade' }),
  /** As the engine told last, though it may not be heard any more. */
  status: text().notNull().default('unknown'),
  is_heard: boolean().notNull().default(false),
  /** Why it is not running. */
  reason: optionalText(),
  /** Source and pipeline on the engine were found as they are stored here. */
  is_verified: boolean().notNull().default(false),
  heard_at: instant(),
})
