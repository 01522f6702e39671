import type { ReportFormat, ReportInterval } from '@eyrie/contract/management/report'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  customType,
  date,
  foreignKey,
  index,
  jsonb,
  pgTable,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { site } from './hierarchy.ts'
import { user } from './user.ts'

/** A report that is sent by e-mail after every day, week or month of a site. */
export const reportSchedule = pgTable(
  'report_schedule',
  {
    report_schedule_id: key().primaryKey(),
    site_id: uuid()
      .notNull()
      .references(() => site.site_id, { onDelete: 'cascade' }),
    report_name: text().notNull(),
    report_every: text().$type<ReportInterval>().notNull(),
    /** HH:MM in the time zone of the site. */
    report_time: text().notNull(),
    report_to: jsonb().$type<string[]>().notNull(),
    report_format: text().$type<ReportFormat>().notNull(),
    /** Length of the time that each row of the report covers. */
    report_interval: text().$type<ReportInterval>().notNull(),
    report_comparison: boolean().notNull(),
    /** Empty for all channels of the site. */
    channel_ids: jsonb().$type<string[]>().notNull(),
    /** Empty for all usecases. */
    usecase_keys: jsonb().$type<string[]>().notNull(),
    /** The keys of the reported statistics. Empty for all. */
    usecase_meta_key: jsonb().$type<string[]>().notNull(),
    is_active: boolean().notNull(),
    /** The person with whose rights the report is created. Null once the user is deleted. */
    user_id: uuid().references(() => user.user_id, { onDelete: 'set null' }),
    /** E-mail address of this person when the schedule was saved. */
    saved_by: text().notNull(),
    /**
     * Identifies the saved version of the schedule. It is in whole milliseconds, so that a
     * JavaScript `Date` is equal to it.
     */
    saved_at: instant().notNull(),
    /**
     * The last day that was reported, in the time zone of the site. It advances when a report is
     * stored, so that none is sent twice.
     */
    last_day: date({ mode: 'string' }).notNull(),
    /** Why the last report was not sent. */
    report_problem: optionalText(),
  },
  table => [
    check('report_schedule_every_values', sql`${table.report_every} in ('day', 'week', 'month')`),
    check('report_schedule_format_values', sql`${table.report_format} in ('csv', 'xlsx', 'pdf')`),
    check(
      'report_schedule_interval_values',
      sql`${table.report_interval} in ('day', 'week', 'month')`,
    ),
    index('report_schedule_by_site').on(table.site_id),
    index('report_schedule_by_user').on(table.user_id),
  ],
)

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** The file of a scheduled report, which its deliveries have as an attachment. */
export const report = pgTable(
  'report',
  {
    report_id: key().primaryKey(),
    report_schedule_id: uuid().notNull(),
    content: bytes().notNull(),
    media_type: text().notNull(),
    created_at: createdAt(),
  },
  table => [
    // Postgres would shorten the default name of this constraint.
    foreignKey({
      name: 'report_schedule_of_report',
      columns: [table.report_schedule_id],
      foreignColumns: [reportSchedule.report_schedule_id],
    }).onDelete('cascade'),
    index('report_by_schedule').on(table.report_schedule_id),
    index('report_by_age').on(table.created_at),
  ],
)
