import { z } from 'zod'
import { findCronError } from '../cron.ts'
import { route } from './management-route.ts'
import { integer, name, recordId, reference, timestamp } from './record-fields.ts'
import { parseTime } from './time-expression.ts'

/**
 * Schedules in the management API. A schedule defines the times at which an alert is active, by a
 * list of occurrences: either cron expressions (`cron`) or time windows (`window`).
 */

export const scheduleType = z.enum(['cron', 'window'])
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** A cron expression, or an empty text. */
const cron = z.string().superRefine((expression, issues) => {
  const error = expression === '' ? undefined : findCronError(expression)
  if (error) issues.addIssue(error)
})

/** HH:MM */
const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/
const isTimeOfDay = (text: string) => TIME_OF_DAY.test(text)
const isDateTime = (text: string) => /^\d{4}-/.test(text) && parseTime(text, 0) !== undefined

/** Start or end of a time window, or an empty text. */
const time = z.string().refine(text => text === '' || isTimeOfDay(text) || isDateTime(text), {
  error: 'must be HH:MM in the time zone of the site, or RFC 3339',
})

const isDay = (text: string) => DAYS.includes(text.trim().toLowerCase())

/** The days of the week on which a time window applies. */
const constraint = z.string().refine(text => text === '' || text.split(',').every(isDay), {
  error: `must be a list of days such as mon,tue, from ${DAYS.join(', ')}; empty means every day`,
})

/** An entry of a schedule. The type of the schedule decides which fields are used. */
const occurrence = z
  .strictObject({
    occurrence_id: integer.optional(),
    occurrence_activate_cron: cron.default(''),
    occurrence_deactivate_cron: cron.default(''),
    occurrence_constraint: constraint.default(''),
    occurrence_start_time: time.default(''),
    occurrence_end_time: time.default(''),
    occurrence_is_allday: z.boolean().default(false),
  })
  .meta({ id: 'ScheduleOccurrence' })
type Occurrence = z.output<typeof occurrence>

/**
 * Returns the required fields of an occurrence. A cron occurrence may activate,
 * deactivate or do both.
 */
function listRequiredFields(
  type: z.infer<typeof scheduleType>,
  {
    occurrence_deactivate_cron: occurrenceDeactivateCron,
    occurrence_is_allday: occurrenceIsAllday,
  }: Occurrence,
): (keyof Occurrence)[] {
  if (type === 'cron') return occurrenceDeactivateCron ? [] : ['occurrence_activate_cron']
  return occurrenceIsAllday ? [] : ['occurrence_start_time', 'occurrence_end_time']
}

/** The fields of a schedule that must be consistent with each other. */
interface ScheduleTimes {
  schedule_type: z.infer<typeof scheduleType>
  schedule_occurrence: Occurrence[]
}

/** Reports fields of occurrences that are missing, contradict each other or are not unique. */
function checkOccurrences(
  { schedule_type: scheduleType, schedule_occurrence: scheduleOccurrence }: ScheduleTimes,
  issues: z.core.$RefinementCtx,
): void {
  const ids = scheduleOccurrence.map(({ occurrence_id }) => occurrence_id)
  for (const [index, occurrence] of scheduleOccurrence.entries()) {
    const reject = (field: keyof Occurrence, message: string) =>
      issues.addIssue({ code: 'custom', path: ['schedule_occurrence', index, field], message })

    for (const field of listRequiredFields(scheduleType, occurrence)) {
      if (occurrence[field] === '') {
        reject(field, `is required in schedules of type ${scheduleType}`)
      }
    }

    const endProblem = findEndProblem(
      occurrence.occurrence_start_time,
      occurrence.occurrence_end_time,
    )
    if (endProblem) reject('occurrence_end_time', endProblem)

    const id = occurrence.occurrence_id
    const isDuplicate = id !== undefined && ids.indexOf(id) !== ids.lastIndexOf(id)
    if (isDuplicate) reject('occurrence_id', 'must be unique within the schedule')
  }
}

/** Returns what is wrong with the end of a time window, if anything. */
function findEndProblem(start: string, end: string): string | undefined {
  const isMixed = (isTimeOfDay(start) && isDateTime(end)) || (isDateTime(start) && isTimeOfDay(end))
  if (isMixed) return 'must have the same format as occurrence_start_time'
  if (isDateTime(start) && isDateTime(end) && Date.parse(start) >= Date.parse(end)) {
    return 'must be after occurrence_start_time'
  }
  return undefined
}

/** A schedule in a request. */
const scheduleInput = z.strictObject({
  alert_id: reference('alert'),
  channel_id: reference('channel'),
  schedule_name: name,
  schedule_type: scheduleType,
  schedule_occurrence: z.array(occurrence).max(100),
})

/** A schedule in a response. */
export const schedule = z
  .object({
    schedule_id: recordId,
    alert_id: recordId,
    channel_id: recordId,
    schedule_name: z.string(),
    schedule_type: z.string(),
    is_active: z.boolean(),
    schedule_occurrence: z.array(occurrence.required()),
  })
  .meta({ id: 'Schedule' })
export type Schedule = z.infer<typeof schedule>

/** Whether the schedules of an alert arm it at this time. */
export const armedAlert = z
  .object({
    alert_id: recordId,
    alert_name: z.string(),
    /** Whether the alert is enabled. Only an alert that is enabled and armed fires. */
    is_active: z.boolean(),
    is_armed: z.boolean(),
    /** The schedules that arm the alert. An alert without schedules is always armed. */
    armed_by: z.array(z.object({ schedule_id: recordId, schedule_name: z.string() })),
    /** When `is_armed` changes; null if no change is foreseeable. */
    next_change_at: timestamp.nullable(),
  })
  .meta({ id: 'ArmedAlert' })

const byId = z.strictObject({ schedule_id: reference('schedule') })

/** Every operation is a POST request, even if it only reads. */
const post = { method: 'post', status: 200 } as const

export const scheduleRoutes = {
  create: route({
    method: 'post',
    path: '/schedule/create',
    summary: 'Create a schedule',
    access: 'manage',
    body: scheduleInput.superRefine(checkOccurrences),
    ignoredFields: ['schedule_id', 'is_active'],
    status: 201,
    response: null,
    readBack: { path: '/schedule/id', by: 'schedule_id' },
  }),

  update: route({
    ...post,
    path: '/schedule/update',
    summary: 'Update a schedule',
    access: 'manage',
    body: scheduleInput.extend(byId.shape).superRefine(checkOccurrences),
    ignoredFields: ['is_active'],
    response: schedule,
  }),

  delete: route({
    ...post,
    path: '/schedule/delete',
    summary: 'Delete a schedule',
    access: 'manage',
    body: byId,
    response: null,
  }),

  get: route({
    ...post,
    path: '/schedule/id',
    readOnly: true,
    summary: 'Get a schedule',
    access: 'view',
    body: byId,
    response: schedule,
  }),

  list: route({
    ...post,
    path: '/schedule/list',
    readOnly: true,
    summary: 'List the schedules of a channel',
    access: 'view',
    body: z.strictObject({ channel_id: reference('channel') }),
    response: z.array(schedule),
  }),

  enable: route({
    ...post,
    path: '/schedule/enable',
    summary: 'Enable a schedule',
    access: 'manage',
    body: byId,
    response: schedule,
  }),

  disable: route({
    ...post,
    path: '/schedule/disable',
    summary: 'Disable a schedule',
    description:
      'An alert ignores its disabled schedules. Without other schedules, it is always armed.',
    access: 'manage',
    body: byId,
    response: schedule,
  }),

  state: route({
    method: 'get',
    path: '/schedule/state',
    summary: 'List which alerts of a channel are armed',
    description: 'Says by which schedules each alert is armed at this time, and when this changes.',
    access: 'view',
    query: z.strictObject({ channel_id: reference('channel') }),
    status: 200,
    response: z.array(armedAlert),
  }),
}
