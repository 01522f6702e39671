import type { EscalationStep } from '@eyrie/contract/management/alert-policy'
import { sql } from 'drizzle-orm'
import {
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  uuid,
} from 'drizzle-orm/pg-core'
import { alert } from './alert.ts'
import { channel } from './channel.ts'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { site } from './hierarchy.ts'

/**
 * How an alert groups its notifications and informs people. An alert without a row has the defaults
 * of the API contract (`alert-policy.ts`).
 */
export const alertPolicy = pgTable(
  'alert_policy',
  {
    alert_id: uuid().primaryKey(),
    channel_id: uuid().notNull(),
    /**
     * The condition is released only when the statistic has reached this value. Null: it is
     * released at the threshold.
     */
    release_threshold: doublePrecision(),
    /** An incident ends when its condition has been released for this number of seconds. */
    quiet_s: integer().notNull(),
    /** Minimum seconds between two messages about one incident. Null: there is only one message. */
    repeat_s: integer(),
    /**
     * Maximum number of messages to a receiver in an hour. 0: no maximum. Null: the priority of the
     * alert determines it.
     */
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
 * A time in which nothing is sent about one alert, about the alerts of a channel, or about all
 * alerts of a site. A snooze of one alert has all three ids. A snooze of a channel has no
 * `alert_id`, and a snooze of a site has only the `site_id`.
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
    /**
     * The end. Null: the snooze ends when all incidents that were open at `created_at` are
     * resolved or have ended.
     */
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
