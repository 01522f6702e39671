import type { Aggregations } from '@eyrie/contract/management/statistic'
import { and, eq, inArray, isNull, or } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, channelCounter, pipeline, source, usecase } from '../../db/schema/index.ts'
import { ChannelCounters } from '../statistics/channel-counters.ts'

/** A channel that messages refer to, with its counters. */
export interface IngestChannel {
  channel_id: string
  is_storage: boolean
  /** Length of the window of its moving average. */
  seconds: number
  counters: ChannelCounters
  /** The keys that only its usecase has. */
  own: Aggregations
}

/** The ids, on the engine, that a message refers to. */
export interface MessageSids {
  channel: number | null
  source: number | null
  pipeline: number | null
}

/**
 * Returns the managed channels that messages refer to, by their ids on the engine. A new channel may send messages before its
 * id has been stored: it is identified by its source and pipeline.
 */
export async function findIngestChannels(
  tx: Transaction,
  engine_id: string,
  messages: readonly MessageSids[],
): Promise<Map<number, IngestChannel>> {
  const sidsByChannel = new Map<number, MessageSids>()
  for (const sids of messages) if (sids.channel !== null) sidsByChannel.set(sids.channel, sids)
  if (sidsByChannel.size === 0) return new Map()

  const rows = await tx
    .select({
      channel_sid: channel.channel_sid,
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
        or(inArray(channel.channel_sid, [...sidsByChannel.keys()]), isNull(channel.channel_sid)),
      ),
    )
  const counters = await readCounters(
    tx,
    rows.map(({ channel_id }) => channel_id),
  )

  const channels = new Map<number, IngestChannel>()
  for (const { channel_sid, source_sid, pipeline_sid, ...fields } of rows) {
    const sid = channel_sid ?? findSidBySource(sidsByChannel, source_sid, pipeline_sid)
    if (sid !== null) channels.set(sid, { ...fields, counters: counters.get(fields.channel_id)! })
  }
  return channels
}

function findSidBySource(
  sidsByChannel: ReadonlyMap<number, MessageSids>,
  source_sid: number | null,
  pipeline_sid: number | null,
): number | null {
  if (source_sid === null) return null
  for (const [sid, { source, pipeline }] of sidsByChannel)
    if (source === source_sid && pipeline === pipeline_sid) return sid
  return null
}

async function readCounters(tx: Transaction, ids: string[]): Promise<Map<string, ChannelCounters>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.select().from(channelCounter).where(inArray(channelCounter.channel_id, ids))
  const rowsByChannel = Map.groupBy(rows, ({ channel_id }) => channel_id)
  return new Map(
    ids.map(id => {
      const values = rowsByChannel.get(id) ?? []
      return [id, new ChannelCounters(values.map(row => ({ ...row, timeMs: row.at.getTime() })))]
    }),
  )
}

/** Stores the counters that have changed. */
export async function storeCounters(tx: Transaction, channels: Iterable<IngestChannel>): Promise<void> {
  for (const { channel_id, counters } of channels) {
    const { isCleared, rows } = counters.changes()
    if (isCleared) await tx.delete(channelCounter).where(eq(channelCounter.channel_id, channel_id))
    for (const { name, key, value, timeMs } of rows) {
      const at = new Date(timeMs)
      await tx
        .insert(channelCounter)
        .values({ channel_id, name, key, value, at })
        .onConflictDoUpdate({
          target: [channelCounter.channel_id, channelCounter.name, channelCounter.key],
          set: { value, at },
        })
    }
  }
}
