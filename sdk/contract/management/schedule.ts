import { CronPattern } from 'croner'
import { z } from 'zod'
import { route } from './management-route.ts'
import { integer, name, recordId, reference } from './record-fields.ts'
import { parseTime } from './time-expression.ts'

export const scheduleType = z.enum(['cron', 'window'])
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

const cron = z.string().superRefine((expression, issues) => {
  const error = expression === '' ? undefined : findCronError(expression)
  if (error) issues.addIssue(error)
})

const PLAIN_CRON_FIELD = /^(?:[-,*/\d]|[a-z]{3})+$/i

/** Croner also supports seconds and extensions such as `@daily`, `L` and `#`. This API has five plain fields. */
function findCronError(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5 || !fields.every(field => PLAIN_CRON_FIELD.test(field)))
    return 'must be a cron expression with five fields: minute, hour, day of the month, month, day of the week'
  try {
    new CronPattern(fields.join(' '), undefined, { mode: '5-part', sloppyRanges: true })
    return undefined
  } catch (error) {
    return `is not a valid cron expression: ${(error as Error).message.replace(/^CronPattern: /, '')}`
  }
}

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/
const isDated = (text: string) => /^\d{4}-/.test(text) && parseTime(text, 0) !== undefined
const time = z.string().refine(text => text === '' || CLOCK.test(text) || isDated(text), {
  error: 'must be HH:MM in the time zone of the site, or RFC 3339',
})

const constraint = z
  .string()
  .refine(text => text === '' || text.split(',').every(day => days.includes(day.trim().toLowerCase())), {
    error: `must be a list of days such as mon,tue, from ${days.join(', ')}; empty means every day`,
  })

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

/** Required fields of an occurrence by schedule type. A cron occurrence may only activate or only deactivate. */
const requiredFields: Record<
  z.infer<typeof scheduleType>,
  (occurrence: Occurrence) => (keyof Occurrence)[]
> = {
  cron: ({ occurrence_deactivate_cron }) => (occurrence_deactivate_cron ? [] : ['occurrence_activate_cron']),
  window: ({ occurrence_is_allday }) =>
    occurrence_is_allday ? [] : ['occurrence_start_time', 'occurrence_end_time'],
}

interface ScheduleTimes {
  schedule_type: z.infer<typeof scheduleType>
  schedule_occurrence: Occurrence[]
}

function checkOccurrences(
  { schedule_type, schedule_occurrence }: ScheduleTimes,
  issues: z.core.$RefinementCtx,
): void {
  const ids = schedule_occurrence.flatMap(({ occurrence_id = [] }) => occurrence_id)
  schedule_occurrence.forEach((occurrence, index) => {
    const reject = (field: keyof Occurrence, message: string) =>
      issues.addIssue({ code: 'custom', path: ['schedule_occurrence', index, field], message })
    for (const field of requiredFields[schedule_type](occurrence))
      if (occurrence[field] === '') reject(field, `is required in schedules of type ${schedule_type}`)
    const { occurrence_id, occurrence_start_time: start, occurrence_end_time: end } = occurrence
    if ((CLOCK.test(start) && isDated(end)) || (isDated(start) && CLOCK.test(end)))
      reject('occurrence_end_time', 'must have the same format as occurrence_start_time')
    else if (isDated(start) && isDated(end) && Date.parse(start) >= Date.parse(end))
      reject('occurrence_end_time', 'must be after occurrence_start_time')
    if (occurrence_id !== undefined && ids.indexOf(occurrence_id) !== ids.lastIndexOf(occurrence_id))
      reject('occurrence_id', 'must be unique within the schedule')
  })
}

const scheduleShape = z.strictObject({
  alert_id: reference('alert'),
  channel_id: reference('channel'),
  schedule_name: name,
  schedule_type: scheduleType,
  schedule_occurrence: z.array(occurrence).max(100),
})

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

const byId = z.strictObject({ schedule_id: reference('schedule') })
const post = { method: 'post', status: 200 } as const

export const scheduleRoutes = {
  create: route({
    method: 'post',
    path: '/schedule/create',
    summary: 'Create a schedule',
    access: 'manage',
    body: scheduleShape.superRefine(checkOccurrences),
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
    body: scheduleShape.extend(byId.shape).superRefine(checkOccurrences),
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
  id: route({
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
}
