import { z } from 'zod'
import { name, paging, recordId, reference } from './fields.ts'
import { bucketLength, dayOrMoment, lookBack, moment } from './moment.ts'
import { route } from './route.ts'
import {
  channelStats,
  eventRecord,
  statisticList,
  statisticSelection,
  usecaseStats,
  usecaseStatsByQuery,
} from './statistic.ts'

const flag = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] }).meta({ type: 'boolean' })
const details = flag.default(false)
const frequency = lookBack.default('-1h')

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
    summary: 'Get the events of a channel by range',
    access: 'view',
    query: z.strictObject({
      ...selection,
      channel_id,
      ...paging('event'),
      start: moment,
      end: moment,
      agg_frequency: bucketLength.default('100ms'),
      details,
    }),
    status: 200,
    answer: eventRange,
  }),
  channelStats: route({
    method: 'get',
    path: '/event/channel-stats',
    summary: 'Get the statistics of a channel',
    access: 'view',
    query: z.strictObject({ ...selection, channel_id, frequency }),
    status: 200,
    answer: channelStats,
  }),
  usecaseStatsByQuery: route({
    method: 'get',
    path: '/event/usecase-stats',
    summary: 'Get the statistics of a usecase, by query',
    access: 'view',
    query: z.strictObject({ ...selection, frequency, details }),
    status: 200,
    answer: usecaseStatsByQuery,
  }),
  usecaseStats: route({
    method: 'post',
    path: '/event/usecase-stats',
    readOnly: true,
    summary: 'Get the statistics of a usecase',
    access: 'view',
    body: z.strictObject({
      details: z.boolean(),
      frequency: lookBack,
      usecase_key: name,
      usecase_meta_key: statisticList,
    }),
    status: 200,
    answer: usecaseStats,
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
      end_date: dayOrMoment,
      start_date: dayOrMoment,
      usecase_key: name,
    }),
    status: 200,
    answer: channelStats,
  }),
}
