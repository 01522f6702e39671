import type { Aggregations, ChannelAlert, ChannelStats } from '@eyrie/contract/management/statistic'
import { and, asc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, notification, usecase } from '../../db/schema/index.ts'
import { readAggregates } from './aggregates.ts'
import { readNewestTracks } from './newest-events.ts'
import type { Period } from './samples.ts'
import { combineTotals, computeTotals, type Totals, toStatistics, toStoredKeys } from './totals.ts'

export interface ChannelStatsOptions {
  keys: readonly string[]
  /** The keys that only the usecase has. */
  own: Aggregations
  period: Period
  /** Includes the `ids` of tracks. */
  details: boolean
}

/** Returns the statistics of each channel that meets a condition, and of all of them combined. */
export async function readChannelStats(
  tx: Transaction,
  condition: SQL | undefined,
  { keys, own, period, details }: ChannelStatsOptions,
): Promise<{ channels: ChannelStats[]; totals: Totals }> {
  const rows = await tx
    .select({
      channel_id: channel.channel_id,
      channel_key: channel.channel_key,
      channel_name: channel.channel_name,
      seconds: channel.channel_threshold_duration,
      usecase_key: usecase.usecase_key,
    })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(condition)
    .orderBy(asc(channel.channel_name), asc(channel.channel_id))
  const ids = rows.map(({ channel_id }) => channel_id)
  const aggregates = await readAggregates(tx, ids, toStoredKeys(keys), period, own)
  const alerts = await countFiredAlerts(tx, ids, period)
  const tracks = details ? await readNewestTracks(tx, ids, period) : new Map<string, string[]>()

  const allTotals: Totals[] = []
  const channels = rows.map(({ seconds, ...fields }): ChannelStats => {
    const { channel_id } = fields
    const totals = computeTotals(aggregates.get(channel_id)!, keys, period.to, seconds, own)
    allTotals.push(totals)
    const channel_alert = alerts.get(channel_id) ?? []
    const notifications = channel_alert.reduce((sum, { count }) => sum + count, 0)
    return {
      ...fields,
      channel_alert,
      channel_stats: toStatistics(totals, tracks.get(channel_id) ?? []),
      channel_total_alert: notifications,
      channel_total_notification: notifications,
    }
  })
  return { channels, totals: combineTotals(allTotals, own) }
}

/** Counts how often each alert has fired, by channel; the alert that fired last comes first. */
async function countFiredAlerts(
  tx: Transaction,
  channelIds: string[],
  { from, to }: Period,
): Promise<Map<string, ChannelAlert[]>> {
  const { channel_id, alert_id, alert_name, condition, threshold_key, notification_time } = notification
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
