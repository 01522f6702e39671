import type { EscalationStep } from '@eyrie/contract/management/alert-policy'
import { sql } from 'drizzle-orm'
import { check, doublePrecision, foreignKey, index, integer, jsonb, pgTable, uuid } from 'drizzle-orm/pg-core'
import { alert } from './alert.ts'
import { channel } from './channel.ts'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { site } from './hierarchy.ts'

/** How an alert informs people, beyond its own fields. An alert without a row has the defaults. */
export const alertPolicy = pgTable(
  'alert_policy',
  {
    alert_id: uuid().primaryKey(),
    channel_id: uuid().notNull(),
    /** The condition is released only at this value of the statistic; null: at the threshold. */
    release_threshold: doublePrecision(),
    /** Seconds without the condition after which an incident ends. */
    quiet_s: integer().notNull(),
    /** Minimum seconds between two messages about one incident; null: one message. */
    repeat_s: integer(),
    /** Maximum number of messages to a receiver in an hour; 0: no maximum, null: by priority. */
    budget_per_hour: integer(),
    escalation: jsonb().$type<EscalationStep[]>().notNull(),
  },
  table => [
    foreignKey({
      name: 'alert_policy_alert',
      columns: [table.alert_id, table.channel_id],
      foreignColumns: [alert.alert_id, alert.channel_id],
    })
      .onDelete('cascade')
      .onUpdate('cascade'),
  ],
)

/**
 * A time in which nothing is sent about an alert, the alerts of a channel, or all alerts of a site. The snooze of an alert also has the
 * ids of its channel and site, and that of a channel the id of its site.
 */
export const snooze = pgTable(
  'snooze',
  {
    snooze_id: key().primaryKey(),
    site_id: uuid()
      .notNull()
      .references(() => site.site_id, { onDelete: 'cascade' }),
    channel_id: uuid().references(() => channel.channel_id, { onDelete: 'cascade' }),
    alert_id: uuid().references(() => alert.alert_id, { onDelete: 'cascade' }),
    /** The end; null if it ends when all incidents that were open at `created_at` are resolved or have ended. */
    until: instant(),
    reason: optionalText(),
    /** E-mail address of the person when the snooze was created. */
    created_by: optionalText(),
    created_at: createdAt(),
  },
  table => [
    check('snooze_scope', sql`${table.alert_id} is null or ${table.channel_id} is not null`),
    index('snooze_by_site').on(table.site_id),
  ],
)
