import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  foreignKey,
  index,
  jsonb,
  pgTable,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { alert, schedule } from './alert.ts'
import { createdAt, instant, key } from './columns.ts'
import { organization, site } from './hierarchy.ts'

/**
 * An occurrence of an event in a calendar. `start` and `end` are dates, local times, or times in
 * UTC that end with `Z`. The end is exclusive.
 */
export interface CalendarOccurrence {
  start: string
  end: string
  summary: string
}

/**
 * An uploaded iCalendar file, such as the holidays of a country. Without a site, it serves all
 * sites of its organization.
 */
export const calendar = pgTable(
  'calendar',
  {
    calendar_id: key().primaryKey(),
    organization_id: uuid()
      .notNull()
      .references(() => organization.organization_id),
    site_id: uuid(),
    calendar_name: text().notNull(),
    calendar_ics: text().notNull(),
    /** The occurrences of all events of the file, recurring ones included, until `events_until`. */
    calendar_events: jsonb().$type<CalendarOccurrence[]>().notNull(),
    events_until: instant().notNull(),
    created_at: createdAt(),
  },
  table => [
    foreignKey({
      name: 'calendar_site',
      columns: [table.site_id, table.organization_id],
      foreignColumns: [site.site_id, site.organization_id],
    }),
    index('calendar_by_organization').on(table.organization_id),
    index('calendar_by_site').on(table.site_id),
  ],
)

/** A calendar whose events disarm or arm a schedule. */
export const scheduleException = pgTable(
  'schedule_exception',
  {
    exception_id: key().primaryKey(),
    schedule_id: uuid()
      .notNull()
      .references(() => schedule.schedule_id, { onDelete: 'cascade' }),
    calendar_id: uuid()
      .notNull()
      .references(() => calendar.calendar_id),
    exception_type: text().notNull(),
    created_at: createdAt(),
  },
  table => [
    check('exception_type_values', sql`${table.exception_type} in ('disarm', 'arm')`),
    unique('calendar_of_schedule').on(table.schedule_id, table.calendar_id),
    index('schedule_exception_by_calendar').on(table.calendar_id),
  ],
)

/**
 * Whether the schedules of an alert arm it, from `valid_from` until `valid_until`. The scheduler
 * writes these rows. A change of the schedules deletes them. Management computes the state of an
 * alert that has no row.
 */
export const alertArming = pgTable('alert_arming', {
  alert_id: uuid()
    .primaryKey()
    .references(() => alert.alert_id, { onDelete: 'cascade' }),
  is_armed: boolean().notNull(),
  /** The schedules that arm the alert. */
  schedule_ids: jsonb().$type<string[]>().notNull(),
  valid_from: instant().notNull(),
  valid_until: instant().notNull(),
  /** When `is_armed` changes; null if no change is foreseeable. */
  next_change_at: instant(),
})
