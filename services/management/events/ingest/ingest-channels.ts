import type { Aggregations } from '@eyrie/contract/management/statistic'
import { and, eq, inArray, isNull, or } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, channelCounter, pipeline, source, usecase } from '../../db/schema/index.ts'
import { ChannelCounters } from '../statistics/channel-counters.ts'

/** A channel that messages are of, with what it has counted so far. */
export interface HeardChannel {
  channel_id: string
  is_storage: boolean
  /** Over which its moving average is taken. */
  seconds: number
  counters: ChannelCounters
  /** Keys that its usecase has of its own. */
  own: Aggregations
}

/** Of which channel a message is, in the ids of its engine. */
export interface Sids {
  channel: number | null
  source: number | null
  pipeline: number | null
}

/**
 * The channels of an engine that management has made, by their ids there. What a new channel tells before its id has been
 * noted is known by its source and pipeline.
 */
export async function heardChannels(
  tx: Transaction,
  engine_id: string,
  messages: readonly Sids[],
): Promise<Map<number, HeardChannel>> {
  const told = new Map(messages.flatMap(sids => (sids.channel === null ? [] : [[sids.channel, sids]])))
  if (told.size === 0) return new Map()
  const found = await tx
    .select({
      sid: channel.channel_sid,
      source_sid: source.source_sid,
      pipeline_sid: pipeline.pipeline_sid,
      channel_id: channel.channel_id,
      is_storage: channel.is_storage,
      seconds: channel.channel_threshold_duration,
      own: usecase.usecase_aggregations,
    })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .innerJoin(pipeline, eq(pipeline.pipeline_id, channel.pipeline_id))
    .where(
      and(
        eq(channel.engine_id, engine_id),
        or(inArray(channel.channel_sid, [...told.keys()]), isNull(channel.channel_sid)),
      ),
    )
  const ids = found.map(({ channel_id }) => channel_id)
  const rows =
    ids.length === 0
      ? []
      : await tx.select().from(channelCounter).where(inArray(channelCounter.channel_id, ids))
  const counted = Map.groupBy(rows, ({ channel_id }) => channel_id)
  const heard = new Map<number, HeardChannel>()
  for (const { sid, source_sid, pipeline_sid, ...known } of found) {
    const place =
      sid ??
      [...told.values()].find(
        it => source_sid !== null && it.source === source_sid && it.pipeline === pipeline_sid,
      )?.channel
    if (place === undefined || place === null) continue
    const rows = counted.get(known.channel_id) ?? []
    const counters = new ChannelCounters(rows.map(row => ({ ...row, at: row.at.getTime() })))
    heard.set(place, { ...known, counters })
  }
  return heard
}

/** Stores what the channels have counted. */
export async function keepCounters(tx: Transaction, channels: Iterable<HeardChannel>): Promise<void> {
  for (const { channel_id, counters } of channels) {
    const { cleared, rows } = counters.changes()
    if (cleared) await tx.delete(channelCounter).where(eq(channelCounter.channel_id, channel_id))
    for (const { name, key, value, at } of rows)
      await tx
        .insert(channelCounter)
        .values({ channel_id, name, key, value, at: new Date(at) })
        .onConflictDoUpdate({
          target: [channelCounter.channel_id, channelCounter.name, channelCounter.key],
          set: { value, at: new Date(at) },
        })
  }
}
