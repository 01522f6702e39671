import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { alert, notification } from './alert.ts'
import { channel } from './channel.ts'
import { createdAt, instant, key, optionalText } from './columns.ts'

/**
 * A message that an action of an alert sends: the outbox from which the scheduler delivers. It is written in the
 * transaction that stores the notification.
 */
export const delivery = pgTable(
  'delivery',
  {
    /** The same for all attempts: receivers recognize repeated messages by it. */
    delivery_id: key().primaryKey(),
    /** Null for a test. */
    notification_uuid: uuid().references(() => notification.notification_uuid, { onDelete: 'cascade' }),
    alert_id: uuid().references(() => alert.alert_id, { onDelete: 'set null' }),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    type: text().notNull(),
    /** Identifies the server that receives the message. */
    target: text().notNull(),
    /** The receiver as people may see it, without secrets. */
    recipient: text().notNull(),
    request: jsonb().$type<DeliveryRequest>().notNull(),
    state: text().notNull().default('queued'),
    /** Number of attempts that have begun. */
    attempts: integer().notNull().default(0),
    /** What the receiver answered to the last attempt, or why it failed. */
    reason: optionalText(),
    /** Whether `next_attempt_at` may be moved forward as soon as the picture is stored. */
    awaits_picture: boolean().notNull().default(false),
    /**
     * When the delivery is due; null if no attempt follows. During an attempt it is the end of the lease, so that a delivery
     * whose scheduler has crashed becomes due again.
     */
    next_attempt_at: instant(),
    /** When the delivery is given up. */
    expires_at: instant().notNull(),
    created_at: createdAt(),
    finished_at: instant(),
  },
  table => [
    check('delivery_type_values', sql`${table.type} in ('email', 'sms', 'webhook', 'mqtt')`),
    check('delivery_state_values', sql`${table.state} in ('queued', 'sent', 'delivered', 'failed', 'dead')`),
    index('delivery_waiting').on(table.target, table.next_attempt_at).where(sql`next_attempt_at is not null`),
    index('delivery_due').on(table.next_attempt_at).where(sql`next_attempt_at is not null`),
    index('delivery_by_channel').on(table.channel_id, table.created_at),
    index('delivery_by_notification').on(table.notification_uuid),
    index('delivery_by_alert').on(table.alert_id),
    index('delivery_by_age').on(table.created_at),
  ],
)
