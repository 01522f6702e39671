import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { alert, incident, notification } from './alert.ts'
import { channel } from './channel.ts'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { pushSubscription } from './push.ts'
import { report, reportSchedule } from './report.ts'
import { systemAlert } from './system-alert.ts'

/**
 * The outbox: each row is a message that the scheduler delivers. It is written in the transaction
 * that stores the notification, or that changes the system alert.
 */
export const delivery = pgTable(
  'delivery',
  {
    /** The same for all attempts: receivers recognize repeated messages by it. */
    delivery_id: key().primaryKey(),
    /** `notification`, `escalation`, `digest`, `test`, `system_alert` or `report`. */
    kind: text().notNull().default('notification'),
    /** Null for a digest, for a test and for a system alert. */
    notification_uuid: uuid().references(() => notification.notification_uuid, {
      onDelete: 'cascade',
    }),
    alert_id: uuid().references(() => alert.alert_id, { onDelete: 'set null' }),
    incident_id: uuid().references(() => incident.incident_id, { onDelete: 'set null' }),
    /** Null for a system alert and for a report. */
    channel_id: uuid().references(() => channel.channel_id, { onDelete: 'cascade' }),
    /** The first system alert that the message is about; null for the firing of an alert. */
    system_alert_id: uuid().references(() => systemAlert.system_alert_id, { onDelete: 'cascade' }),
    /** The schedule of the report that the message contains. Null for other messages. */
    report_schedule_id: uuid(),
    /** The file of that report. */
    report_id: uuid().references(() => report.report_id, { onDelete: 'cascade' }),
    type: text().notNull(),
    /**
     * Identifies the server that receives the message. Deliveries to different targets do
     * not delay each other.
     */
    target: text().notNull(),
    /** The receiver as people may see it, without secrets. */
    recipient: text().notNull(),
    /**
     * The browser that receives a push message. Null for other messages, and once the
     * browser has unsubscribed.
     */
    push_subscription_id: uuid(),
    request: jsonb().$type<DeliveryRequest>().notNull(),
    state: text().notNull().default('queued'),
    /** Number of attempts that have begun. */
    attempts: integer().notNull().default(0),
    /**
     * What the receiver answered to the last attempt, why it failed, or why the
     * message was suppressed.
     */
    reason: optionalText(),
    /**
     * Whether the delivery waits for a picture. It becomes due when the picture is stored, at the
     * latest at `next_attempt_at`.
     */
    awaits_picture: boolean().notNull().default(false),
    /**
     * When the delivery is due; null if no attempt follows. During an attempt it is the end of the
     * lease: the delivery becomes due again if its scheduler has crashed.
     */
    next_attempt_at: instant(),
    /** When the delivery is given up. */
    expires_at: instant().notNull(),
    /**
     * When the suppressed message is mentioned in a digest. Null once it was mentioned, and for
     * messages of which no digest follows.
     */
    digest_at: instant(),
    created_at: createdAt(),
    finished_at: instant(),
  },
  table => [
    check(
      'delivery_type_values',
      sql`${table.type} in ('email', 'sms', 'webhook', 'mqtt', 'push')`,
    ),
    check(
      'delivery_state_values',
      sql`${table.state} in ('queued', 'sent', 'delivered', 'failed', 'dead', 'suppressed')`,
    ),
    check(
      'delivery_kind_values',
      sql`${table.kind} in ('notification', 'escalation', 'digest', 'test', 'system_alert', 'report')`,
    ),
    // Postgres would shorten the default names of these constraints.
    foreignKey({
      name: 'delivery_report_schedule',
      columns: [table.report_schedule_id],
      foreignColumns: [reportSchedule.report_schedule_id],
    }).onDelete('cascade'),
    foreignKey({
      name: 'delivery_push_subscription',
      columns: [table.push_subscription_id],
      foreignColumns: [pushSubscription.push_subscription_id],
    }).onDelete('set null'),
    index('delivery_waiting')
      .on(table.target, table.next_attempt_at)
      .where(sql`next_attempt_at is not null`),
    index('delivery_due').on(table.next_attempt_at).where(sql`next_attempt_at is not null`),
    index('delivery_by_channel').on(table.channel_id, table.created_at),
    index('delivery_by_notification').on(table.notification_uuid),
    index('delivery_by_incident').on(table.incident_id),
    index('delivery_by_alert').on(table.alert_id),
    index('delivery_by_system_alert').on(table.system_alert_id),
    index('delivery_by_report_schedule').on(table.report_schedule_id, table.created_at),
    index('delivery_by_report').on(table.report_id),
    index('delivery_by_push_subscription').on(table.push_subscription_id),
    index('delivery_by_age').on(table.created_at),
    index('delivery_by_receiver')
      .on(table.target, table.recipient, table.created_at)
      .where(sql`state <> 'suppressed'`),
    index('delivery_digest_due').on(table.digest_at).where(sql`digest_at is not null`),
  ],
)
