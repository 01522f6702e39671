import type { SystemAlertKind } from '@eyrie/contract/management/system-alert-kind'
import { sql } from 'drizzle-orm'
import {
  doublePrecision,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { instant, key } from './columns.ts'
import { source } from './device.ts'
import { engine } from './engine.ts'
import { user } from './user.ts'

/**
 * A failure of a camera, of an engine or of the appliance itself. It is open until `ended_at` is
 * set.
 */
export const systemAlert = pgTable(
  'system_alert',
  {
    system_alert_id: key().primaryKey(),
    kind: text().$type<SystemAlertKind>().notNull(),
    /** The id of the source or engine; `appliance` for the appliance itself. */
    subject: text().notNull(),
    /** The name of the subject when the alert began. */
    subject_name: text().notNull(),
    engine_id: uuid().references(() => engine.engine_id, { onDelete: 'cascade' }),
    source_id: uuid().references(() => source.source_id, { onDelete: 'cascade' }),
    message: text().notNull(),
    /** When the failure was observed for the first time. */
    began_at: instant().notNull(),
    /** When the failure had lasted long enough to become an alert. */
    opened_at: instant().notNull(),
    /** When the failure was observed last. */
    last_seen_at: instant().notNull(),
    ended_at: instant(),
    /** How often the failure disappeared for a while, but not long enough to end the alert. */
    interruptions: integer().notNull().default(0),
    /** When messages about the beginning were created. */
    notified_at: instant(),
    /** When messages about the open alert were created for the last time. */
    repeated_at: instant(),
    /** When messages about the end were created, or when it turned out that none are wanted. */
    end_notified_at: instant(),
    acknowledged_at: instant(),
    acknowledged_by: uuid().references(() => user.user_id, { onDelete: 'set null' }),
  },
  table => [
    uniqueIndex('system_alert_open').on(table.kind, table.subject).where(sql`ended_at is null`),
    index('system_alert_by_time').on(table.opened_at),
    index('system_alert_by_source').on(table.source_id, table.opened_at),
    index('system_alert_by_engine').on(table.engine_id, table.opened_at),
    index('system_alert_unreported').on(table.opened_at).where(sql`end_notified_at is null`),
  ],
)

/**
 * How the pictures of a source usually look. It is learned, so that a camera that has moved or lost
 * its focus is noticed.
 */
export const pictureReference = pgTable('picture_reference', {
  source_id: uuid()
    .primaryKey()
    .references(() => source.source_id, { onDelete: 'cascade' }),
  /** Number of pictures from which it was learned. */
  samples: integer().notNull(),
  sharpness: doublePrecision().notNull(),
  /** The edges in the picture, which identify the scene: the mean over the learned pictures. */
  edges: doublePrecision().array().notNull(),
})
