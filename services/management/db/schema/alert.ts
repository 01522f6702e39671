import type { BBox } from '@eyrie/contract/object'
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
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { channel } from './channel.ts'
import { createdAt, instant, key, optionalText } from './columns.ts'

/** A rule that fires when a statistic of a channel meets a threshold. */
export const alert = pgTable(
  'alert',
  {
    alert_id: key().primaryKey(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id),
    alert_name: text().notNull(),
    alert_priority: text().notNull(),
    /** The number with which the statistic is compared, as text. */
    alert_threshold: text().notNull(),
    alert_threshold_condition: text().notNull(),
    /** Key of the statistic that is compared with the threshold. */
    alert_threshold_key: text().notNull(),
    /** Minimum seconds between two notifications. */
    alert_frequency: integer().notNull(),
    /** The messages that are sent when the alert fires: e-mails, SMS, webhooks and others. */
    alert_actions: jsonb().notNull(),
    is_active: boolean().notNull().default(true),
    created_at: createdAt(),
  },
  table => [
    check(
      'alert_priority_values',
      sql`${table.alert_priority} in ('low', 'medium', 'high', 'critical')`,
    ),
    check(
      'alert_threshold_condition_values',
      sql`${table.alert_threshold_condition} in ('gt', 'gte', 'lt', 'lte', 'eq', 'ne')`,
    ),
    check('alert_frequency_range', sql`${table.alert_frequency} between 0 and 86400`),
    unique('alert_on_channel').on(table.alert_id, table.channel_id),
    index('alert_by_channel').on(table.channel_id),
  ],
)

/**
 * The state of an alert's evaluation, which is stored so that the frequency limit survives a
 * restart.
 */
export const alertState = pgTable('alert_state', {
  alert_id: uuid()
    .primaryKey()
    .references(() => alert.alert_id, { onDelete: 'cascade' }),
  /** When the alert fired last. */
  fired_at: instant(),
  /** Whether the condition was met at the last evaluation; null before the first evaluation. */
  holds: boolean(),
  /** The latest time for which the alert was evaluated. */
  looked_at: instant(),
  /**
   * When the condition was released; null until it is. An alert with a release threshold is
   * released only at that value of the statistic, so this may be later than the time at which the
   * condition stopped holding.
   */
  released_at: instant(),
})

/** The times at which an alert of the same channel is armed. Only an armed alert can fire. */
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

/**
 * The notifications of an alert that belong together. An alert has at most one
 * incident that has not ended.
 */
export const incident = pgTable(
  'incident',
  {
    incident_id: key().primaryKey(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    alert_id: uuid().references(() => alert.alert_id, { onDelete: 'set null' }),
    /** Copies of the alert's fields when the incident began. */
    alert_name: text().notNull(),
    alert_priority: text().notNull(),
    usecase_key: text().notNull(),
    /** Time of the first notification. */
    started_at: instant().notNull(),
    /** Time of the latest notification. */
    last_at: instant().notNull(),
    /**
     * When the condition was released. Null while the incident may continue, which is until the
     * quiet time after that is over.
     */
    ended_at: instant(),
    /** Number of notifications. */
    count: integer().notNull(),
    /** The value of the statistic that was farthest from the threshold during the incident. */
    peak: doublePrecision().notNull(),
    /**
     * The notification whose picture shows the incident best. Not a foreign key,
     * because notifications refer to incidents, and backups restore tables in the order
     * of their references.
     */
    best_notification: uuid().notNull(),
    /** Area of the object's box in the picture of the best notification; 0 without a box. */
    best_area: doublePrecision().notNull(),
    /**
     * Time of the latest notification about which people were informed; null before the first one.
     */
    notified_at: instant(),
    /** Number of steps of the escalation that were carried out. */
    escalation_step: integer().notNull().default(0),
    /** When the next step is carried out; null if none follows. */
    escalates_at: instant(),
    acknowledged_at: instant(),
    /** E-mail address of the person when the incident was acknowledged. */
    acknowledged_by: optionalText(),
    resolved_at: instant(),
    resolved_by: optionalText(),
    created_at: createdAt(),
  },
  table => [
    uniqueIndex('incident_running').on(table.alert_id).where(sql`${table.ended_at} is null`),
    index('incident_by_channel').on(table.channel_id, table.started_at),
    index('incident_by_alert').on(table.alert_id, table.started_at),
    index('incident_by_time').on(table.started_at),
    index('incident_escalation_due')
      .on(table.escalates_at)
      .where(sql`${table.escalates_at} is not null`),
  ],
)

/** A record of an alert that fired. It is retained when the alert is deleted. */
export const notification = pgTable(
  'notification',
  {
    notification_uuid: key().primaryKey(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    alert_id: uuid().references(() => alert.alert_id, { onDelete: 'set null' }),
    /** Null for notifications of earlier releases. */
    incident_id: uuid().references(() => incident.incident_id, { onDelete: 'set null' }),
    usecase_key: text().notNull(),
    notification_time: instant().notNull(),
    /** The texts that the console shows: subject, message, sender and receiver. */
    notification_data: jsonb().notNull(),
    /** The data for the placeholders of messages, as JSON. */
    notification_extra: optionalText(),
    /** Copies of the alert's fields at the time of firing, which Channel Stats reports. */
    alert_name: text().notNull(),
    condition: text().notNull(),
    threshold: text().notNull(),
    threshold_key: text().notNull(),
    value: doublePrecision().notNull(),
    /**
     * Always empty. Earlier releases stored messages here; they are now in the table `delivery`.
     */
    deliveries: jsonb().notNull(),
    /** Timestamp of the video frame of the event, within the run `epoch`. */
    pts: bigint({ mode: 'number' }),
    /** The run of the media service. Timestamps start over with each run. */
    epoch: bigint({ mode: 'number' }),
    /** SHA-256 of the picture nearest to `notification_time`, which is stored as a file. */
    picture: text(),
    /**
     * Milliseconds from `notification_time` to the picture, negative if the picture is older;
     * null without a picture.
     */
    picture_offset: integer(),
    /** The box of the object that fired the alert; null if no object did. */
    bbox: jsonb().$type<BBox>(),
    /**
     * When to request a snapshot from the engine. Null if none is needed: the notification has the
     * picture of an event, or its snapshot was requested already.
     */
    next_snapshot: instant(),
  },
  table => [
    index('notification_by_channel').on(table.channel_id, table.notification_time),
    index('notification_by_alert').on(table.alert_id, table.notification_time),
    index('notification_by_incident').on(table.incident_id, table.notification_time),
    index('notification_snapshot_due')
      .on(table.next_snapshot)
      .where(sql`${table.next_snapshot} is not null`),
  ],
)
