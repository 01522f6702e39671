import { eventRoutes } from '@eyrie/contract/management/event'
import { type Aggregations, BUILT_IN_STATISTIC_KEYS } from '@eyrie/contract/management/statistic'
import { toQueryTotals } from '@eyrie/contract/management/statistic-response'
import { parseBucketInterval } from '@eyrie/contract/management/time-expression'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel } from '../../../db/schema/index.ts'
import { createBuckets } from '../../../events/statistics/buckets.ts'
import {
  type ChannelStatsOptions,
  readChannelStats,
} from '../../../events/statistics/channel-stats.ts'
import { readEventRange } from '../../../events/statistics/event-range.ts'
import { parseLookBack, parsePeriod, parseReportPeriod } from '../../../events/statistics/period.ts'
import { toStatistics } from '../../../events/statistics/totals.ts'
import {
  assertStatisticKeys,
  findChannelOfUsecase,
  findUsecase,
  readChannelTimeZone,
} from '../../../inventory/usecases.ts'
import { defineOperation } from '../../api/operation.ts'

/**
 * API operations that read events and statistics. The events of a channel are what its engine has
 * detected. Statistics aggregate them over a period: some exist for every usecase, others
 * (`customAggregations`) only for one. Depending on the route, the usecase key is in the field
 * `usecase` or `usecase_key`; errors about the usecase name this field. `nowMs` returns epoch ms.
 */
export const eventOperations = (nowMs: () => number) => [
  defineOperation(eventRoutes.range, async ({ input }, tx) => {
    const { usecase: usecaseKey, channel_id: channelId, usecase_meta_key: keys, details } = input
    const {
      event_offset: eventOffset,
      event_limit: eventLimit,
      agg_frequency: aggFrequency,
    } = input
    const period = parsePeriod(input.start, input.end, nowMs())
    const {
      usecaseKeys,
      customAggregations,
      channel_threshold_duration: channelThresholdDuration,
    } = await findChannelOfUsecase(tx, channelId, usecaseKey, 'usecase')
    assertSelectedKeys(keys, customAggregations)
    const timeZone = await readChannelTimeZone(tx, channelId)
    // The request schema accepts only valid intervals.
    const interval = parseBucketInterval(aggFrequency)!

    const events = await readEventRange(tx, {
      channel_id: channelId,
      windowSeconds: channelThresholdDuration,
      selection: { keys, usecaseKeys, customAggregations },
      period,
      buckets: createBuckets(interval, timeZone),
      offset: eventOffset,
      limit: eventLimit,
      details,
    })

    const { start, end } = period
    return {
      value: {
        usecase_key: usecaseKey,
        channel_id: channelId,
        start,
        end,
        agg_frequency: aggFrequency,
        event_limit: eventLimit,
        event_offset: eventOffset,
        events,
      },
    }
  }),

  defineOperation(eventRoutes.channelStats, async ({ input }, tx) => {
    const { usecase: usecaseKey, usecase_meta_key: keys, channel_id: channelId, frequency } = input
    const { usecaseKeys, customAggregations } = await findChannelOfUsecase(
      tx,
      channelId,
      usecaseKey,
      'usecase',
    )
    assertSelectedKeys(keys, customAggregations)
    const selection = { keys, usecaseKeys, customAggregations }
    const period = parseLookBack(nowMs(), frequency)
    return { value: await getChannelStats(tx, channelId, { selection, period, details: true }) }
  }),

  defineOperation(eventRoutes.usecaseStatsByQuery, async ({ input }, tx) => {
    const { usecase: usecaseKey, usecase_meta_key: keys, frequency, details } = input
    const period = parseLookBack(nowMs(), frequency)
    const stats = await getUsecaseStats(tx, usecaseKey, 'usecase', { keys, period, details })
    return { value: { ...stats, usecase_total_stats: toQueryTotals(stats.usecase_total_stats) } }
  }),

  defineOperation(eventRoutes.usecaseStats, async ({ input }, tx) => {
    const { usecase_key: usecaseKey, usecase_meta_key: keys, frequency, details } = input
    const period = parseLookBack(nowMs(), frequency)
    const stats = await getUsecaseStats(tx, usecaseKey, 'usecase_key', { keys, period, details })
    return { value: stats }
  }),

  defineOperation(eventRoutes.usecaseReport, async ({ input }, tx) => {
    const {
      usecase_key: usecaseKey,
      channel_id: channelId,
      start_date: startDate,
      end_date: endDate,
      details,
    } = input
    const timeZone = await readChannelTimeZone(tx, channelId)
    const period = parseReportPeriod(startDate, endDate, nowMs(), timeZone)
    const usecaseChannel = await findChannelOfUsecase(tx, channelId, usecaseKey, 'usecase_key')
    const { usecaseKeys, customAggregations } = usecaseChannel
    const keys = [...BUILT_IN_STATISTIC_KEYS, ...Object.keys(customAggregations)]
    const selection = { keys, usecaseKeys, customAggregations }
    const stats = await getChannelStats(tx, channelId, { selection, period, details })
    return { value: stats }
  }),
]

/** Returns the statistics of one channel, which must exist. */
async function getChannelStats(tx: Transaction, channelId: string, options: ChannelStatsOptions) {
  const { channels } = await readChannelStats(tx, eq(channel.channel_id, channelId), options)
  // The caller has checked that the channel exists.
  return channels[0]!
}

/**
 * Returns the statistics of each channel of a usecase that the caller may see, and the totals
 * of these channels. Throws `EyrieError` (`id`) about the request field `field` if the
 * usecase does not exist.
 */
async function getUsecaseStats(
  tx: Transaction,
  usecaseKey: string,
  field: string,
  { keys, ...options }: Omit<ChannelStatsOptions, 'selection'> & { keys: readonly string[] },
) {
  const {
    usecase_id: usecaseId,
    usecase_meta_key: usecaseKeys,
    usecase_aggregations: customAggregations,
  } = await findUsecase(tx, usecaseKey, field)
  assertSelectedKeys(keys, customAggregations)
  const { channels, totals } = await readChannelStats(tx, eq(channel.usecase_id, usecaseId), {
    ...options,
    selection: { keys, usecaseKeys, customAggregations },
  })

  const sumOfChannels = (key: 'channel_total_alert' | 'channel_total_notification') =>
    channels.reduce((sum, stats) => sum + stats[key], 0)
  // Ids of the tracked objects in all channels.
  const trackIds = new Set(channels.flatMap(({ channel_stats }) => channel_stats.ids))
  return {
    usecase_channel: channels,
    usecase_key: usecaseKey,
    usecase_total_alert: sumOfChannels('channel_total_alert'),
    usecase_total_notification: sumOfChannels('channel_total_notification'),
    usecase_total_stats: toStatistics(totals, [...trackIds]),
  }
}

/** Throws `EyrieError` (`syntax`) for keys that the usecase does not have. */
const assertSelectedKeys = (keys: readonly string[], customAggregations: Aggregations) =>
  assertStatisticKeys(
    keys.map((key, index) => ({ field: `usecase_meta_key.${index}`, key })),
    customAggregations,
  )
