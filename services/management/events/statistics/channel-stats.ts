import type { Aggregations, ChannelAlert, ChannelStats } from '@eyrie/contract/management/statistic'
import { and, asc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, notification, usecase } from '../../db/schema/index.ts'
import { aggregate } from './aggregates.ts'
import { newestTracks } from './newest-events.ts'
import type { Period } from './samples.ts'
import { fieldsOf, storedKeysOf, type Totals, together, totalsOf } from './totals.ts'

export interface StatsOptions {
  keys: readonly string[]
  /** Those that the usecase has of its own. */
  own: Aggregations
  period: Period
  /** Whether `ids` are wanted. */
  details: boolean
}

/** The statistics of channels that meet a condition, each by itself and all together. */
export async function statsOfChannels(
  tx: Transaction,
  condition: SQL | undefined,
  { keys, own, period, details }: StatsOptions,
): Promise<{ channels: ChannelStats[]; totals: Totals }> {
  const found = await tx
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
  const ids = found.map(({ channel_id }) => channel_id)
  const aggregates = await aggregate(tx, ids, storedKeysOf(keys), period, own)
  const alerts = Map.groupBy(await alertsOf(tx, ids, period), each => each.channel)
  const tracks = details ? await newestTracks(tx, ids, period) : new Map<string, string[]>()
  const totals = new Map(
    found.map(({ channel_id, seconds }) => [
      channel_id,
      totalsOf(aggregates.get(channel_id)!, keys, period.to, seconds, own),
    ]),
  )
  const channels = found.map(({ seconds: _, ...known }): ChannelStats => {
    const channel_alert = alerts.get(known.channel_id) ?? []
    const fired = channel_alert.reduce((sum, { count }) => sum + count, 0)
    return {
      ...known,
      channel_alert,
      channel_stats: fieldsOf(totals.get(known.channel_id)!, tracks.get(known.channel_id) ?? []),
      channel_total_alert: fired,
      channel_total_notification: fired,
    }
  })
  return { channels, totals: together([...totals.values()], own) }
}

/** How often each alert of the channels has fired, the last to fire first. */
async function alertsOf(tx: Transaction, channels: string[], { from, to }: Period): Promise<ChannelAlert[]> {
  const { channel_id, alert_id, alert_name, condition, threshold_key, notification_time } = notification
  const newest = sql<string>`max(${notification_time})`
  const rows = await tx
    .select({
      channel: channel_id,
      condition,
      count: sql<number>`count(*)::int`,
      key: threshold_key,
      name: alert_name,
      time: newest,
    })
    .from(notification)
    .where(
      and(
        inArray(channel_id, channels),
        gte(notification_time, new Date(from)),
        lt(notification_time, new Date(to)),
      ),
    )
    .groupBy(channel_id, alert_id, alert_name, condition, threshold_key)
    .orderBy(sql`${newest} desc`)
  return rows.map(row => ({ ...row, time: new Date(row.time).toISOString() }))
}
