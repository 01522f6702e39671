import { eventRoutes } from '@eyrie/contract/management/event'
import { type Aggregations, BUILT_IN_STATISTIC_KEYS } from '@eyrie/contract/management/statistic'
import { toQueryTotals } from '@eyrie/contract/management/statistic-response'
import { parseBucketInterval } from '@eyrie/contract/management/time-expression'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
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
 * detected. Statistics aggregate them over a period. Some statistics exist for every usecase,
 * others (`customAggregations`) only for one. Depending on the route, the usecase key is in the
 * field `usecase` or `usecase_key`, and errors about the usecase name this `field`. `nowMs` returns
 * epoch ms.
 */
export const eventOperations = (nowMs: () => number) => [
  defineOperation(eventRoutes.range, async ({ input }, tx) => {
    const { usecase: usecaseKey, channel_id, usecase_meta_key: keys, agg_frequency } = input
    const { start, end, ...period } = parsePeriod(input.start, input.end, nowMs())
    const usecaseChannel = await findChannelOfUsecase(tx, {
      channel_id,
      usecase_key: usecaseKey,
      field: 'usecase',
    })
    const { availableKeys, customAggregations } = usecaseChannel
    assertSelectedKeys(keys, customAggregations)
    const timeZone = await readChannelTimeZone(tx, channel_id)
    // The request schema accepts only valid intervals.
    const interval = parseBucketInterval(agg_frequency)!

    const events = await readEventRange(tx, {
      channel_id,
      windowSeconds: usecaseChannel.channel_threshold_duration,
      selection: { keys, availableKeys, customAggregations },
      period,
      buckets: createBuckets(interval, timeZone),
      offset: input.event_offset,
      limit: input.event_limit,
      details: input.details,
    })
    return {
      value: {
        usecase_key: usecaseKey,
        channel_id,
        start,
        end,
        agg_frequency,
        event_limit: input.event_limit,
        event_offset: input.event_offset,
        events,
      },
    }
  }),

  defineOperation(eventRoutes.channelStats, async ({ input }, tx) => {
    const { usecase: usecaseKey, usecase_meta_key: keys, channel_id } = input
    const { availableKeys, customAggregations } = await findChannelOfUsecase(tx, {
      channel_id,
      usecase_key: usecaseKey,
      field: 'usecase',
    })
    assertSelectedKeys(keys, customAggregations)
    const selection = { keys, availableKeys, customAggregations }
    const period = parseLookBack(nowMs(), input.frequency)
    return { value: await getChannelStats(tx, channel_id, { selection, period, details: true }) }
  }),

  // The two methods of this path return the same statistics. With GET, the names of the totals have
  // no underscores.
  defineOperation(eventRoutes.usecaseStatsByQuery, async ({ input }, tx) => {
    const { usecase: usecaseKey, usecase_meta_key: keys, details } = input
    const period = parseLookBack(nowMs(), input.frequency)
    const requested = { usecase_key: usecaseKey, field: 'usecase' }
    const stats = await getUsecaseStats(tx, requested, { keys, period, details })
    return { value: { ...stats, usecase_total_stats: toQueryTotals(stats.usecase_total_stats) } }
  }),

  defineOperation(eventRoutes.usecaseStats, async ({ input }, tx) => {
    const { usecase_key, usecase_meta_key: keys, details } = input
    const period = parseLookBack(nowMs(), input.frequency)
    const requested = { usecase_key, field: 'usecase_key' }
    return { value: await getUsecaseStats(tx, requested, { keys, period, details }) }
  }),

  defineOperation(eventRoutes.usecaseReport, async ({ input }, tx) => {
    const { usecase_key, channel_id, details } = input
    const timeZone = await readChannelTimeZone(tx, channel_id)
    const period = parseReportPeriod(input.start_date, input.end_date, nowMs(), timeZone)
    const { availableKeys, customAggregations } = await findChannelOfUsecase(tx, {
      channel_id,
      usecase_key,
      field: 'usecase_key',
    })
    const keys = [...BUILT_IN_STATISTIC_KEYS, ...Object.keys(customAggregations)]
    const selection = { keys, availableKeys, customAggregations }
    return { value: await getChannelStats(tx, channel_id, { selection, period, details }) }
  }),
]

/** Returns the statistics of one channel. The channel must exist. */
async function getChannelStats(tx: Transaction, channelId: string, options: ChannelStatsOptions) {
  const { channels } = await readChannelStats(tx, eq(channel.channel_id, channelId), options)
  return firstRow(channels)
}

/**
 * Returns the statistics of the channels of a usecase, as far as the caller may see them, and their
 * totals. Throws `EyrieError` (`id`) about the request field `field` if the usecase does not exist.
 */
async function getUsecaseStats(
  tx: Transaction,
  { usecase_key, field }: { usecase_key: string; field: string },
  { keys, ...options }: Omit<ChannelStatsOptions, 'selection'> & { keys: readonly string[] },
) {
  const {
    usecase_id,
    usecase_meta_key: availableKeys,
    usecase_aggregations: customAggregations,
  } = await findUsecase(tx, usecase_key, field)
  assertSelectedKeys(keys, customAggregations)
  const { channels, totals } = await readChannelStats(tx, eq(channel.usecase_id, usecase_id), {
    ...options,
    selection: { keys, availableKeys, customAggregations },
  })

  const sumOfChannels = (key: 'channel_total_alert' | 'channel_total_notification') =>
    channels.reduce((sum, stats) => sum + stats[key], 0)
  // Ids of the tracked objects in all channels.
  const trackIds = new Set(channels.flatMap(({ channel_stats }) => channel_stats.ids))
  return {
    usecase_channel: channels,
    usecase_key,
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
