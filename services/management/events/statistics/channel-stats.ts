import type { ChannelAlert, ChannelStats } from '@eyrie/contract/management/statistic-response'
import { and, asc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, notification, usecase } from '../../db/schema/index.ts'
import { readAggregates } from './aggregates.ts'
import { readNewestTracks } from './newest-events.ts'
import type { Period } from './samples.ts'
import {
  combineTotals,
  computeTotals,
  type StatisticSelection,
  type Totals,
  toStatistics,
  toStoredKeys,
} from './totals.ts'

/** Which statistics of channels to read. */
export interface ChannelStatsOptions {
  selection: StatisticSelection
  period: Period
  /** Whether to read the ids of tracked objects too. */
  details: boolean
}

/**
 * Returns the statistics of each channel that meets a condition on columns of `channel`, and
 * their combined totals.
 */
export async function readChannelStats(
  tx: Transaction,
  condition: SQL | undefined,
  { selection, period, details }: ChannelStatsOptions,
): Promise<{ channels: ChannelStats[]; totals: Totals }> {
  const rows = await readChannels(tx, condition)
  const ids = rows.map(({ channel_id }) => channel_id)
  const aggregatesByChannel = await readAggregates(
    tx,
    ids,
    toStoredKeys(selection.keys),
    period,
    selection.customAggregations,
  )
  const alertsByChannel = await countFiredAlerts(tx, ids, period)
  const tracksByChannel = details
    ? await readNewestTracks(tx, ids, period)
    : new Map<string, string[]>()

  const totalsOfChannels: Totals[] = []
  const channels: ChannelStats[] = []
  for (const { windowSeconds, ...fields } of rows) {
    const { channel_id: channelId } = fields
    // `readAggregates` returns an entry for each channel, even without statistics.
    const aggregates = aggregatesByChannel.get(channelId)!
    const totals = computeTotals(aggregates, selection, period.to, windowSeconds)
    totalsOfChannels.push(totals)

    const alerts = alertsByChannel.get(channelId) ?? []
    const firedCount = alerts.reduce((sum, { count }) => sum + count, 0)
    channels.push({
      ...fields,
      channel_alert: alerts,
      channel_stats: toStatistics(totals, tracksByChannel.get(channelId) ?? []),
      channel_total_alert: firedCount,
      // An alert stores one notification each time it fires.
      channel_total_notification: firedCount,
    })
  }
  return { channels, totals: combineTotals(totalsOfChannels, selection) }
}

/** Returns the channels that meet a condition, in order of their names. */
function readChannels(tx: Transaction, condition: SQL | undefined) {
  return tx
    .select({
      channel_id: channel.channel_id,
      channel_key: channel.channel_key,
      channel_name: channel.channel_name,
      windowSeconds: channel.channel_threshold_duration,
      usecase_key: usecase.usecase_key,
    })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(condition)
    .orderBy(asc(channel.channel_name), asc(channel.channel_id))
}

/**
 * Counts how often each alert has fired within a period. Returns the alerts by channel, the most
 * recently fired first.
 */
async function countFiredAlerts(
  tx: Transaction,
  channelIds: string[],
  { from, to }: Period,
): Promise<Map<string, ChannelAlert[]>> {
  // A notification contains the settings that its alert had when it fired.
  const { channel_id, alert_id, alert_name, condition, threshold_key, notification_time } =
    notification
  const latestTime = sql<string>`max(${notification_time})`
  const rows = await tx
    .select({
      channel: channel_id,
      condition,
      count: sql<number>`count(*)::int`,
      key: threshold_key,
      name: alert_name,
      time: latestTime,
    })
    .from(notification)
    .where(
      and(
        inArray(channel_id, channelIds),
        gte(notification_time, new Date(from)),
        lt(notification_time, new Date(to)),
      ),
    )
    .groupBy(channel_id, alert_id, alert_name, condition, threshold_key)
    .orderBy(sql`${latestTime} desc`)
  const alerts = rows.map(row => ({ ...row, time: new Date(row.time).toISOString() }))
  return Map.groupBy(alerts, alert => alert.channel)
}
