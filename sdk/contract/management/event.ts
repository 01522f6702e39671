import { z } from 'zod'
import { flagParameter } from '../parameters.ts'
import { route } from './management-route.ts'
import { name, pagination, recordId, reference } from './record-fields.ts'
import { requestedStatisticKeys, statisticKeysParameter } from './statistic.ts'
import {
  channelStats,
  eventRecord,
  usecaseStats,
  usecaseStatsByQuery,
} from './statistic-response.ts'
import {
  bucketInterval,
  dateOrTimeExpression,
  lookback,
  timeExpression,
} from './time-expression.ts'

/**
 * Events of channels in the management API, and the statistics that are computed from them.
 * Each operation returns them for one usecase, because the usecase determines which
 * statistics its channels have.
 */

const DETAILS =
  'Whether to add the ids of tracked objects, and the newest events of each time bucket'
const details = flagParameter.meta({ description: DETAILS })

const frequency = lookback
  .default('-1h')
  .meta({ description: 'Length of the time range, which ends now; a minus sign is ignored' })

/** Query parameters that select statistics: the usecase, and the keys. */
const selection = {
  usecase: name.meta({ description: 'Key of the usecase, such as `line-crossing`' }),
  usecase_meta_key: statisticKeysParameter,
}

const channelId = reference('channel')

/** The events of a channel in a time range, aggregated in time buckets. */
export const eventRange = z
  .object({
    usecase_key: z.string(),
    channel_id: recordId,
    start: z.string(),
    end: z.string(),
    agg_frequency: z.string().meta({ description: 'Length of the time buckets' }),
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
      channel_id: channelId,
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
    query: z.strictObject({ ...selection, channel_id: channelId, frequency }),
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
      details: z.boolean().meta({ description: DETAILS }),
      frequency: lookback,
      usecase_key: name,
      usecase_meta_key: requestedStatisticKeys,
    }),
    status: 200,
    response: usecaseStats,
  }),

  usecaseReport: route({
    method: 'post',
    path: '/event/usecase-report',
    readOnly: true,
    summary: 'Get the statistics of a channel in a time range',
    access: 'view',
    body: z.strictObject({
      channel_id: channelId,
      details: z.boolean().meta({ description: DETAILS }),
      end_date: dateOrTimeExpression,
      start_date: dateOrTimeExpression,
      usecase_key: name,
    }),
    status: 200,
    response: channelStats,
  }),
}
