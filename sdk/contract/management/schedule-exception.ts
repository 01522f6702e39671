import { z } from 'zod'
import { route } from './management-route.ts'
import { recordId, reference } from './record-fields.ts'
import { exceptionType } from './schedule-rules.ts'

/**
 * Exceptions of schedules in the management API. During the events of its calendar, an exception
 * disarms or arms a schedule.
 */

const exceptionInput = z.strictObject({
  schedule_id: reference('schedule'),
  calendar_id: reference('calendar'),
  exception_type: exceptionType.default('disarm'),
})

const scheduleException = z
  .object({
    exception_id: recordId,
    schedule_id: recordId,
    calendar_id: recordId,
    exception_type: z.string(),
  })
  .meta({ id: 'ScheduleException' })
export type ScheduleException = z.infer<typeof scheduleException>

const byId = z.strictObject({ exception_id: reference('schedule_exception') })

export const scheduleExceptionRoutes = {
  create: route({
    method: 'post',
    path: '/schedule-exception/create',
    summary: 'Let a calendar disarm or arm a schedule',
    access: 'manage',
    body: exceptionInput,
    ignoredFields: ['exception_id'],
    status: 201,
    response: null,
    readBack: { path: '/schedule-exception/id', by: 'exception_id' },
  }),

  delete: route({
    method: 'post',
    path: '/schedule-exception/delete',
    summary: 'Delete an exception of a schedule',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/schedule-exception/id',
    summary: 'Get an exception of a schedule',
    access: 'view',
    query: byId,
    status: 200,
    response: scheduleException,
  }),

  list: route({
    method: 'get',
    path: '/schedule-exception/list',
    summary: 'List the exceptions of a schedule',
    access: 'view',
    query: z.strictObject({ schedule_id: reference('schedule') }),
    status: 200,
    response: z.array(scheduleException),
  }),
}
