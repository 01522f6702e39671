import { z } from 'zod'
import { route } from './management-route.ts'
import { name, pagination, recordId, reference } from './record-fields.ts'
import {
  channelStats,
  eventRecord,
  statisticList,
  statisticSelection,
  usecaseStats,
  usecaseStatsByQuery,
} from './statistic.ts'
import { bucketInterval, dateOrTimeExpression, lookback, timeExpression } from './time-expression.ts'

const flag = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] }).meta({ type: 'boolean' })
const details = flag.default(false)
const frequency = lookback.default('-1h')

const selection = { usecase: name, usecase_meta_key: statisticSelection }
const channel_id = reference('channel')

export const eventRange = z
  .object({
    usecase_key: z.string(),
    channel_id: recordId,
    start: z.string(),
    end: z.string(),
    agg_frequency: z.string(),
    event_limit: z.int(),
    event_offset: z.int(),
    events: z.array(eventRecord),
  })
  .meta({ id: 'EventRange' })

export const eventRoutes = {
  range: route({
    method: 'get',
    path: '/event/range',
    summary: 'Get the events of a channel in a time range',
    access: 'view',
    query: z.strictObject({
      ...selection,
      channel_id,
      ...pagination('event'),
      start: timeExpression,
      end: timeExpression,
      agg_frequency: bucketInterval.default('100ms'),
      details,
    }),
    status: 200,
    response: eventRange,
  }),
  channelStats: route({
    method: 'get',
    path: '/event/channel-stats',
    summary: 'Get the statistics of a channel',
    access: 'view',
    query: z.strictObject({ ...selection, channel_id, frequency }),
    status: 200,
    response: channelStats,
  }),
  usecaseStatsByQuery: route({
    method: 'get',
    path: '/event/usecase-stats',
    summary: 'Get the statistics of a usecase (query parameters)',
    access: 'view',
    query: z.strictObject({ ...selection, frequency, details }),
    status: 200,
    response: usecaseStatsByQuery,
  }),
  usecaseStats: route({
    method: 'post',
    path: '/event/usecase-stats',
    readOnly: true,
    summary: 'Get the statistics of a usecase',
    access: 'view',
    body: z.strictObject({
      details: z.boolean(),
      frequency: lookback,
      usecase_key: name,
      usecase_meta_key: statisticList,
    }),
    status: 200,
    response: usecaseStats,
  }),
  usecaseReport: route({
    method: 'post',
    path: '/event/usecase-report',
    readOnly: true,
    summary: 'Get a report on a channel',
    access: 'view',
    body: z.strictObject({
      channel_id,
      details: z.boolean(),
      end_date: dateOrTimeExpression,
      start_date: dateOrTimeExpression,
      usecase_key: name,
    }),
    status: 200,
    response: channelStats,
  }),
}
