import { eventRoutes } from '@eyrie/contract/management/event'
import { type Aggregations, statisticKeys, toQueryTotals } from '@eyrie/contract/management/statistic'
import { parseDuration } from '@eyrie/contract/management/time-expression'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel } from '../../../db/schema/index.ts'
import { type ChannelStatsOptions, readChannelStats } from '../../../events/statistics/channel-stats.ts'
import { readEventRange } from '../../../events/statistics/event-range.ts'
import { parseLookBack, parsePeriod, parseReportPeriod } from '../../../events/statistics/period.ts'
import { toStatistics } from '../../../events/statistics/totals.ts'
import { assertStatisticKeys, findChannelOfUsecase, findUsecase } from '../../../inventory/usecases.ts'
import { operation } from '../../api/operation.ts'

const { range, channelStats, usecaseStatsByQuery, usecaseStats, usecaseReport } = eventRoutes

/** Events and statistics. `now`: epoch ms. */
export const eventOperations = (now: () => number) => [
  operation(range, async ({ input }, tx) => {
    const { usecase, usecase_meta_key, channel_id, event_offset, event_limit, agg_frequency, details } = input
    const { start, end, ...period } = parsePeriod(input.start, input.end, now())
    const found = await findChannelOfUsecase(tx, channel_id, usecase, 'usecase')
    const { own, channel_threshold_duration: seconds } = found
    requireSelected(usecase_meta_key, own)
    const events = await readEventRange(tx, {
      ...{ channel_id, seconds, keys: usecase_meta_key, own, period, details },
      lengthMs: parseDuration(agg_frequency)!,
      offset: event_offset,
      limit: event_limit,
    })
    const page = { agg_frequency, event_limit, event_offset, events }
    return { value: { usecase_key: usecase, channel_id, start, end, ...page } }
  }),

  operation(channelStats, async ({ input }, tx) => {
    const { usecase, usecase_meta_key: keys, channel_id, frequency } = input
    const { own } = await findChannelOfUsecase(tx, channel_id, usecase, 'usecase')
    requireSelected(keys, own)
    return {
      value: await statsOfChannel(tx, channel_id, {
        keys,
        own,
        period: parseLookBack(now(), frequency),
        details: true,
      }),
    }
  }),

  operation(usecaseStatsByQuery, async ({ input }, tx) => {
    const { usecase, usecase_meta_key: keys, frequency, details } = input
    const period = parseLookBack(now(), frequency)
    const { usecase_total_stats, ...rest } = await statsOfUsecase(tx, usecase, 'usecase', {
      keys,
      period,
      details,
    })
    return { value: { ...rest, usecase_total_stats: toQueryTotals(usecase_total_stats) } }
  }),

  operation(usecaseStats, async ({ input }, tx) => {
    const { usecase_key, usecase_meta_key: keys, frequency, details } = input
    const period = parseLookBack(now(), frequency)
    return { value: await statsOfUsecase(tx, usecase_key, 'usecase_key', { keys, period, details }) }
  }),

  operation(usecaseReport, async ({ input }, tx) => {
    const { usecase_key, channel_id, start_date, end_date, details } = input
    const period = parseReportPeriod(start_date, end_date, now())
    const { own } = await findChannelOfUsecase(tx, channel_id, usecase_key, 'usecase_key')
    const keys = [...statisticKeys, ...Object.keys(own)]
    return { value: await statsOfChannel(tx, channel_id, { keys, own, period, details }) }
  }),
]

async function statsOfChannel(tx: Transaction, channel_id: string, options: ChannelStatsOptions) {
  const { channels } = await readChannelStats(tx, eq(channel.channel_id, channel_id), options)
  return channels[0]!
}

/** Of those of its channels that the caller may see. */
async function statsOfUsecase(
  tx: Transaction,
  usecase_key: string,
  field: string,
  options: Omit<ChannelStatsOptions, 'own'>,
) {
  const { usecase_id, usecase_aggregations: own } = await findUsecase(tx, usecase_key, field)
  requireSelected(options.keys, own)
  const { channels, totals } = await readChannelStats(tx, eq(channel.usecase_id, usecase_id), {
    ...options,
    own,
  })
  const total = (key: 'channel_total_alert' | 'channel_total_notification') =>
    channels.reduce((sum, each) => sum + each[key], 0)
  return {
    usecase_channel: channels,
    usecase_key,
    usecase_total_alert: total('channel_total_alert'),
    usecase_total_notification: total('channel_total_notification'),
    usecase_total_stats: toStatistics(totals, [...new Set(channels.flatMap(each => each.channel_stats.ids))]),
  }
}

const requireSelected = (keys: readonly string[], own: Aggregations) =>
  assertStatisticKeys(
    keys.map((key, place) => ({ field: `usecase_meta_key.${place}`, key })),
    own,
  )
