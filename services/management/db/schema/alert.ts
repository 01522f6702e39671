import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { channel } from './channel.ts'
import { createdAt, instant, key, optionalText } from './columns.ts'

export const alert = pgTable(
  'alert',
  {
    alert_id: key().primaryKey(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id),
    alert_name: text().notNull(),
    alert_priority: text().notNull(),
    alert_threshold: text().notNull(),
    alert_threshold_condition: text().notNull(),
    alert_threshold_key: text().notNull(),
    /** Minimum seconds between two notifications. */
    alert_frequency: integer().notNull(),
    alert_actions: jsonb().notNull(),
    is_active: boolean().notNull().default(true),
    created_at: createdAt(),
  },
  table => [
    check('alert_priority_values', sql`${table.alert_priority} in ('low', 'medium', 'high', 'critical')`),
    check(
      'alert_threshold_condition_values',
      sql`${table.alert_threshold_condition} in ('gt', 'gte', 'lt', 'lte', 'eq', 'ne')`,
    ),
    check('alert_frequency_range', sql`${table.alert_frequency} between 0 and 86400`),
    unique('alert_on_channel').on(table.alert_id, table.channel_id),
    index('alert_by_channel').on(table.channel_id),
  ],
)

/** When an alert fired last, so that its frequency limit survives a restart, and whether its condition holds. */
export const alertState = pgTable('alert_state', {
  alert_id: uuid()
    .primaryKey()
    .references(() => alert.alert_id, { onDelete: 'cascade' }),
  fired_at: instant(),
  /** Null: not evaluated yet. */
  holds: boolean(),
  /** When `holds` was evaluated. */
  looked_at: instant(),
})

/** Arms and disarms an alert of the same channel. */
export const schedule = pgTable(
  'schedule',
  {
    schedule_id: key().primaryKey(),
    alert_id: uuid().notNull(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id),
    schedule_name: text().notNull(),
    schedule_type: text().notNull(),
    schedule_occurrence: jsonb().notNull(),
    is_active: boolean().notNull().default(true),
    created_at: createdAt(),
  },
  table => [
    foreignKey({
      name: 'schedule_alert',
      columns: [table.alert_id, table.channel_id],
      foreignColumns: [alert.alert_id, alert.channel_id],
    }),
    check('schedule_type_values', sql`${table.schedule_type} in ('cron', 'window')`),
    index('schedule_by_channel').on(table.channel_id),
    index('schedule_by_alert').on(table.alert_id),
  ],
)

/** A firing of an alert. It is retained when the alert is deleted. */
export const notification = pgTable(
  'notification',
  {
    notification_uuid: key().primaryKey(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    alert_id: uuid().references(() => alert.alert_id, { onDelete: 'set null' }),
    usecase_key: text().notNull(),
    notification_time: instant().notNull(),
    notification_data: jsonb().notNull(),
    notification_extra: optionalText(),
    /** The alert as it was when it fired. Channel Stats reports these values. */
    alert_name: text().notNull(),
    condition: text().notNull(),
    threshold: text().notNull(),
    threshold_key: text().notNull(),
    value: doublePrecision().notNull(),
    /** The messages to send, one for each of the alert's actions. */
    deliveries: jsonb().notNull(),
    /** The frame of the event, and the SHA-256 of its picture, which is stored as a file. */
    epoch: bigint({ mode: 'number' }),
    pts: bigint({ mode: 'number' }),
    picture: text(),
  },
  table => [
    index('notification_by_channel').on(table.channel_id, table.notification_time),
    index('notification_by_alert').on(table.alert_id, table.notification_time),
  ],
)
