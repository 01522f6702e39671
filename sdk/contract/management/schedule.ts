import { z } from 'zod'
import { cronFault } from './cron.ts'
import { route } from './management-route.ts'
import { integer, name, recordId, reference } from './record-fields.ts'
import { parseTime } from './time-expression.ts'

export const scheduleType = z.enum(['cron', 'window'])
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

const cron = z.string().superRefine((text, issues) => {
  const fault = text === '' ? undefined : cronFault(text)
  if (fault) issues.addIssue(fault)
})

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/
const isDated = (text: string) => /^\d{4}-/.test(text) && parseTime(text, 0) !== undefined
const time = z.string().refine(text => text === '' || CLOCK.test(text) || isDated(text), {
  error: 'write HH:MM of the site, or RFC 3339',
})

const constraint = z
  .string()
  .refine(text => text === '' || text.split(',').every(day => days.includes(day.trim().toLowerCase())), {
    error: `write days such as mon,tue of ${days.join(', ')}; none: every day`,
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

/** What an occurrence of each type cannot do without. A cron may activate alone, or deactivate alone. */
const needed: Record<z.infer<typeof scheduleType>, (given: Occurrence) => (keyof Occurrence)[]> = {
  cron: ({ occurrence_deactivate_cron }) => (occurrence_deactivate_cron ? [] : ['occurrence_activate_cron']),
  window: ({ occurrence_is_allday }) =>
    occurrence_is_allday ? [] : ['occurrence_start_time', 'occurrence_end_time'],
}

interface Timed {
  schedule_type: z.infer<typeof scheduleType>
  schedule_occurrence: Occurrence[]
}

function checkOccurrences(
  { schedule_type, schedule_occurrence }: Timed,
  issues: z.core.$RefinementCtx,
): void {
  const ids = schedule_occurrence.flatMap(({ occurrence_id = [] }) => occurrence_id)
  schedule_occurrence.forEach((given, place) => {
    const fault = (field: keyof Occurrence, message: string) =>
      issues.addIssue({ code: 'custom', path: ['schedule_occurrence', place, field], message })
    for (const field of needed[schedule_type](given))
      if (given[field] === '') fault(field, `is required in a schedule of type ${schedule_type}`)
    const { occurrence_id, occurrence_start_time: start, occurrence_end_time: end } = given
    if ((CLOCK.test(start) && isDated(end)) || (isDated(start) && CLOCK.test(end)))
      fault('occurrence_end_time', 'must be written as occurrence_start_time is')
    else if (isDated(start) && isDated(end) && Date.parse(start) >= Date.parse(end))
      fault('occurrence_end_time', 'must be after occurrence_start_time')
    if (occurrence_id !== undefined && ids.indexOf(occurrence_id) !== ids.lastIndexOf(occurrence_id))
      fault('occurrence_id', 'names two occurrences')
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
