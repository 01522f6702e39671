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
  /** The statistics. Others are absent in the response. */
  selection: StatisticSelection
  period: Period
  /** Includes the ids of tracked objects. */
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
  const { keys, customAggregations } = selection
  const rows = await readChannels(tx, condition)
  const ids = rows.map(({ channel_id }) => channel_id)
  const aggregatesByChannel = await readAggregates(
    tx,
    ids,
    toStoredKeys(keys),
    period,
    customAggregations,
  )
  const alertsByChannel = await countFiredAlerts(tx, ids, period)
  const tracksByChannel = details
    ? await readNewestTracks(tx, ids, period)
    : new Map<string, string[]>()

  const allTotals: Totals[] = []
  const channels: ChannelStats[] = []
  for (const { windowSeconds, ...fields } of rows) {
    // There is an entry for each channel, even without statistics.
    const aggregates = aggregatesByChannel.get(fields.channel_id)!
    const totals = computeTotals(aggregates, selection, period.to, windowSeconds)
    allTotals.push(totals)

    const alerts = alertsByChannel.get(fields.channel_id) ?? []
    const tracks = tracksByChannel.get(fields.channel_id) ?? []
    const notificationCount = alerts.reduce((sum, { count }) => sum + count, 0)
    channels.push({
      ...fields,
      channel_alert: alerts,
      channel_stats: toStatistics(totals, tracks),
      // Each firing of an alert stores one notification.
      channel_total_alert: notificationCount,
      channel_total_notification: notificationCount,
    })
  }
  return { channels, totals: combineTotals(allTotals, selection) }
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
 * Counts how often each alert has fired, by channel. Alerts that have fired most
 * recently come first.
 */
async function countFiredAlerts(
  tx: Transaction,
  channelIds: string[],
  { from, to }: Period,
): Promise<Map<string, ChannelAlert[]>> {
  const {
    channel_id: channelId,
    alert_id: alertId,
    alert_name: alertName,
    condition,
    threshold_key: thresholdKey,
    notification_time: notificationTime,
  } = notification
  const latestTime = sql<string>`max(${notificationTime})`
  const rows = await tx
    .select({
      channel: channelId,
      condition,
      count: sql<number>`count(*)::int`,
      key: thresholdKey,
      name: alertName,
      time: latestTime,
    })
    .from(notification)
    .where(
      and(
        inArray(channelId, channelIds),
        gte(notificationTime, new Date(from)),
        lt(notificationTime, new Date(to)),
      ),
    )
    .groupBy(channelId, alertId, alertName, condition, thresholdKey)
    .orderBy(sql`${latestTime} desc`)
  const alerts = rows.map(row => ({ ...row, time: new Date(row.time).toISOString() }))
  return Map.groupBy(alerts, alert => alert.channel)
}
