import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId, reference, referenceIds, timestamp } from './record-fields.ts'
import { reportFormat, reportInterval } from './report.ts'
import { statisticKey } from './statistic.ts'
import { email } from './user.ts'

/**
 * Scheduled reports in the management API. Each is sent by e-mail after every day,
 * week or month of a site.
 */

const MAX_RECEIVERS = 50
const MAX_KEYS = 100

/** A scheduled report in a request. */
const scheduleInput = z.strictObject({
  report_name: name.meta({ description: 'Title of the report and subject of the e-mail' }),
  site_id: reference('site'),
  report_every: reportInterval.meta({
    description:
      'How often the report is sent, and what it covers: the last day, the last week from Monday, or the last month',
  }),
  report_time: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be HH:MM in the time zone of the site')
    .default('07:00')
    .meta({
      description:
        'When it is sent on the first day after the period, in the time zone of the site',
      examples: ['07:00'],
    }),
  report_to: z
    .array(email)
    .min(1)
    .max(MAX_RECEIVERS)
    .meta({ description: 'E-mail addresses. Each one gets an e-mail of its own' }),
  report_format: reportFormat.default('pdf'),
  report_interval: reportInterval
    .default('day')
    .meta({ description: 'Length of the time that each row covers' }),
  report_comparison: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether the report also has the values of the previous period' }),
  channel_ids: referenceIds('channel')
    .default([])
    .meta({ description: 'Empty: all channels of the site' }),
  usecase_keys: z
    .array(name)
    .max(MAX_KEYS)
    .default([])
    .meta({ description: 'Empty: all usecases' }),
  usecase_meta_key: z.array(statisticKey).max(MAX_KEYS).default([]).meta({
    description: 'Keys of the statistics. Empty: all statistics of each usecase, and `alert`',
  }),
  is_active: z.boolean().default(true),
})

/** A scheduled report in a response. */
export const reportSchedule = z
  .object({
    ...scheduleInput.shape,
    report_schedule_id: recordId,
    site_id: recordId,
    report_to: z.array(z.string()),
    channel_ids: z.array(recordId),
    saved_by: z.string().meta({
      description: 'The person who saved it last. The report contains what this person may see',
    }),
    last_day: z.iso
      .date()
      .meta({ description: 'Last day that was reported, in the time zone of the site' }),
    next_report_at: timestamp
      .nullable()
      .meta({ description: 'Null if the schedule is not active' }),
    report_problem: z
      .string()
      .meta({ description: 'Why the last report was not sent, and what to do; empty if it was' }),
  })
  .meta({ id: 'ReportSchedule' })
export type ReportSchedule = z.infer<typeof reportSchedule>

const byId = z.strictObject({ report_schedule_id: reference('report_schedule') })

/** Fields that clients may send back as they have read them. They have no effect. */
const READ_ONLY_FIELDS = ['saved_by', 'last_day', 'next_report_at', 'report_problem'] as const

export const reportScheduleRoutes = {
  create: route({
    method: 'post',
    path: '/report/schedule/create',
    summary: 'Send a report every day, week or month',
    access: 'manage',
    body: scheduleInput,
    ignoredFields: ['report_schedule_id', ...READ_ONLY_FIELDS],
    status: 201,
    response: null,
    readBack: { path: '/report/schedule/id', by: 'report_schedule_id' },
  }),

  update: route({
    method: 'post',
    path: '/report/schedule/update',
    summary: 'Update a scheduled report',
    description:
      'Omitted fields are set to their defaults. The report then contains what the caller may see.',
    access: 'manage',
    body: scheduleInput.extend(byId.shape),
    ignoredFields: READ_ONLY_FIELDS,
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/report/schedule/delete',
    summary: 'Delete a scheduled report',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/report/schedule/id',
    summary: 'Get a scheduled report',
    access: 'view',
    query: byId,
    status: 200,
    response: reportSchedule,
  }),

  list: route({
    method: 'get',
    path: '/report/schedule/list',
    summary: 'List the scheduled reports of a site',
    access: 'view',
    query: z.strictObject({ site_id: reference('site') }),
    status: 200,
    response: z.array(reportSchedule),
  }),

  send: route({
    method: 'post',
    path: '/report/schedule/send',
    summary: 'Send a scheduled report now',
    description:
      'The report covers the last complete period, even if it was sent already. The delivery at `Location` shows the result for the first receiver.',
    access: 'manage',
    body: byId,
    status: 201,
    response: null,
    readBack: { path: '/delivery/id', by: 'delivery_id' },
  }),
}
