import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId, reference, timestamp } from './record-fields.ts'

/**
 * Calendars in the management API. A calendar is an iCalendar file (RFC 5545), such as the
 * holidays of a country, whose events are exceptions of schedules. It belongs to a site, or serves
 * all sites of an organization.
 */

/** Maximum length of an iCalendar file. */
const MAX_ICS_LENGTH = 1 << 20

const ics = z
  .string()
  .max(MAX_ICS_LENGTH, { abort: true })
  .refine(text => /^\uFEFF?\s*BEGIN:VCALENDAR/i.test(text), {
    error: 'must be the text of an iCalendar file, which begins with BEGIN:VCALENDAR',
  })

/** A calendar in a request. */
const calendarInput = z.strictObject({
  organization_id: reference('organization'),
  /** Omitted: the calendar serves all sites of the organization. */
  site_id: reference('site').nullable().optional(),
  calendar_name: name,
  calendar_ics: ics,
})

/** A calendar in a response. */
const calendar = z
  .object({
    calendar_id: recordId,
    organization_id: recordId,
    site_id: recordId.nullable(),
    calendar_name: z.string(),
    /** Number of occurrences of all events up to `calendar_events_until`. */
    calendar_event_count: z.int(),
    /** Recurring events are expanded up to this time, which management moves forward regularly. */
    calendar_events_until: timestamp,
  })
  .meta({ id: 'Calendar' })
export type Calendar = z.infer<typeof calendar>

/** A calendar with its file and its next events. */
const calendarView = z
  .object({
    ...calendar.shape,
    calendar_ics: z.string(),
    /**
     * Dates and local times of the site (`2026-12-25`, `2026-12-24T12:00:00`), or times in UTC.
     * The end is exclusive.
     */
    calendar_events: z.array(
      z.object({ event_start: z.string(), event_end: z.string(), event_summary: z.string() }),
    ),
  })
  .meta({ id: 'CalendarView' })

const byId = z.strictObject({ calendar_id: reference('calendar') })
const READ_ONLY_FIELDS = ['calendar_event_count', 'calendar_events_until', 'calendar_events']

export const calendarRoutes = {
  create: route({
    method: 'post',
    path: '/calendar/create',
    summary: 'Create a calendar from an iCalendar file',
    access: 'manage',
    body: calendarInput,
    ignoredFields: ['calendar_id', ...READ_ONLY_FIELDS],
    status: 201,
    response: null,
    readBack: { path: '/calendar/id', by: 'calendar_id' },
  }),

  update: route({
    method: 'post',
    path: '/calendar/update',
    summary: 'Replace the file and the name of a calendar',
    access: 'manage',
    body: calendarInput.pick({ calendar_name: true, calendar_ics: true }).extend(byId.shape),
    ignoredFields: ['organization_id', 'site_id', ...READ_ONLY_FIELDS],
    status: 200,
    response: calendar,
  }),

  delete: route({
    method: 'post',
    path: '/calendar/delete',
    summary: 'Delete a calendar',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/calendar/id',
    summary: 'Get a calendar with its file and its next 100 events',
    access: 'view',
    query: byId,
    status: 200,
    response: calendarView,
  }),

  list: route({
    method: 'get',
    path: '/calendar/list',
    summary: 'List the calendars of an organization',
    access: 'view',
    query: z.strictObject({ organization_id: reference('organization') }),
    status: 200,
    response: z.array(calendar),
  }),
}
