import type { FeedCounts } from '@eyrie/contract/management/feed'
import type {
  PublishedChannel,
  SchedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import { type Aggregations, getAggregation } from '@eyrie/contract/management/statistic'
import { asc, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import {
  alert,
  alertState,
  channel,
  channelState,
  device,
  engine,
  engineState,
  site,
  source,
  usecase,
} from '../../db/schema/index.ts'
import { MOVING_AVERAGE } from '../../events/statistics/contribution.ts'
import { readLiveCounts } from '../../feed/live-counts.ts'

type Inventory = Pick<SchedulerInventory, 'channels' | 'alerts' | 'engines'>

/** Returns the channels, alerts and engines that the scheduler publishes, with their states. */
export async function readInventory(tx: Transaction): Promise<Inventory> {
  const [channels, counts, alerts, engines] = await Promise.all([
    readChannels(tx),
    readLiveCounts(tx),
    readAlerts(tx),
    readEngines(tx),
  ])
  return {
    channels: channels.map(row => toPublishedChannel(row, counts.get(row.channel_id) ?? {})),
    alerts,
    engines,
  }
}

const readChannels = (tx: Transaction) =>
  tx
    .select({
      channel_id: channel.channel_id,
      channel_name: channel.channel_name,
      usecase_key: usecase.usecase_key,
      statisticKeys: usecase.usecase_meta_key,
      customAggregations: usecase.usecase_aggregations,
      source_id: channel.source_id,
      device_name: sql<string>`coalesce(${device.device_name}, ${channel.channel_name})`,
      site_name: site.site_name,
      status: sql<string>`coalesce(${channelState.status}, 'unknown')`,
      reason: sql<string>`coalesce(${channelState.reason}, '')`,
      is_current: sql<boolean>`coalesce(${channelState.is_heard}, false)`,
    })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .innerJoin(site, eq(site.site_id, channel.site_id))
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .leftJoin(device, eq(device.device_id, source.device_id))
    .leftJoin(channelState, eq(channelState.channel_id, channel.channel_id))
    .orderBy(asc(channel.channel_id))

const readAlerts = (tx: Transaction) =>
  tx
    .select({
      alert_id: alert.alert_id,
      channel_id: alert.channel_id,
      alert_name: alert.alert_name,
      is_firing: sql<boolean>`coalesce(${alertState.holds}, false)`,
    })
    .from(alert)
    .leftJoin(alertState, eq(alertState.alert_id, alert.alert_id))
    .where(eq(alert.is_active, true))
    .orderBy(asc(alert.alert_id))

const readEngines = (tx: Transaction) =>
  tx
    .select({
      engine_id: engine.engine_id,
      engine_name: engine.engine_name,
      engine_status: sql<number>`coalesce(${engineState.engine_status}, 0)`,
      engine_reason: sql<string>`coalesce(${engineState.reason}, '')`,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .orderBy(asc(engine.engine_id))

type ChannelRow = Awaited<ReturnType<typeof readChannels>>[number]

function toPublishedChannel(
  { statisticKeys, customAggregations, ...row }: ChannelRow,
  counts: FeedCounts,
): PublishedChannel {
  const isRunning = row.status === 'running' || row.status === 'degraded'
  // The moving average changes as time passes, even without an event that could
  // publish its new value.
  const publishedKeys = statisticKeys.filter(key => key !== MOVING_AVERAGE)
  return {
    ...row,
    is_active: row.is_current && isRunning,
    statistics: listStatistics([...publishedKeys, ...Object.keys(counts)], customAggregations),
    counts,
  }
}

/** Returns each statistic once, with the way in which its values are combined. */
const listStatistics = (keys: readonly string[], customAggregations: Aggregations) =>
  [...new Set(keys)].map(key => ({ key, aggregation: getAggregation(key, customAggregations) }))
