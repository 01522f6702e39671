import type { Aggregations } from '@eyrie/contract/management/statistic'
import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import {
  channel,
  channelCounter,
  formerChannel,
  provision,
  source,
  usecase,
} from '../../db/schema/index.ts'
import { isAnyOf } from '../../db/text-array.ts'
import { ChannelCounters } from '../statistics/channel-counters.ts'
import { countsVisits } from '../statistics/contribution.ts'

/** A stored channel that has sent messages, with the data that is needed to store the messages. */
export interface IngestChannel {
  channel_id: string
  is_storage: boolean
  /** Length of the window of the channel's moving average. */
  windowSeconds: number
  counters: ChannelCounters
  /** Whether `total` counts the visits to zones instead of the crossings of lines. */
  countsVisits: boolean
  /** Aggregations of the keys that the usecase defines itself. */
  customAggregations: Aggregations
  /** The channel runs on another engine now: only messages before this time (epoch ms) count. */
  acceptedBeforeMs?: number
}

/** The ids (sids) that the engine has assigned to the channel, source and pipeline of a message. */
export interface MessageSids {
  channel: number | null
  source: number | null
  pipeline: number | null
}

/** The output log of an engine. */
export interface OutputLog {
  engine_id: string
  log_id: string | null
}

/**
 * Returns the stored channels that messages refer to, by their ids on the engine. A new channel may
 * send messages before its id is stored: it is then identified by its source and pipeline. Includes
 * channels that were moved to another engine.
 */
export async function findIngestChannels(
  tx: Transaction,
  { engine_id: engineId, log_id: logId }: OutputLog,
  messages: readonly MessageSids[],
): Promise<Map<number, IngestChannel>> {
  const sidsByChannel = new Map<number, MessageSids>()
  for (const sids of messages) {
    if (sids.channel !== null) sidsByChannel.set(sids.channel, sids)
  }
  if (sidsByChannel.size === 0) return new Map()

  const rows = await readCandidateChannels(tx, engineId, [...sidsByChannel.keys()])
  const knownSids = new Set(rows.map(({ channel_sid }) => channel_sid))
  const unknownSids = [...sidsByChannel.keys()].filter(sid => !knownSids.has(sid))
  const formerRows = await readFormerChannels(
    tx,
    { engine_id: engineId, log_id: logId },
    unknownSids,
  )
  const channelIds = [...rows, ...formerRows].map(({ channel_id }) => channel_id)
  const counters = await readCounters(tx, engineId, channelIds)

  const channels = new Map<number, IngestChannel>()
  for (const row of rows) {
    const sid = row.channel_sid ?? findChannelSid(sidsByChannel, row.source_sid, row.pipeline_sid)
    if (sid !== null) channels.set(sid, toIngestChannel(row, counters))
  }
  for (const row of formerRows) {
    const acceptedBeforeMs = row.acceptedBefore.getTime()
    channels.set(row.channel_sid, { ...toIngestChannel(row, counters), acceptedBeforeMs })
  }
  return channels
}

/** A row with `ingestColumns`. */
interface IngestRow {
  channel_id: string
  is_storage: boolean
  windowSeconds: number
  usecaseKeys: readonly string[]
  customAggregations: Aggregations
}

/** Converts a row. `counters` must have an entry for its channel. */
const toIngestChannel = (
  row: IngestRow,
  counters: ReadonlyMap<string, ChannelCounters>,
): IngestChannel => ({
  channel_id: row.channel_id,
  is_storage: row.is_storage,
  windowSeconds: row.windowSeconds,
  customAggregations: row.customAggregations,
  counters: counters.get(row.channel_id)!,
  countsVisits: countsVisits(row.usecaseKeys),
})

const ingestColumns = {
  channel_id: channel.channel_id,
  is_storage: channel.is_storage,
  windowSeconds: channel.channel_threshold_duration,
  usecaseKeys: usecase.usecase_meta_key,
  customAggregations: usecase.usecase_aggregations,
}

/**
 * Returns the channels that had one of these ids on the engine before they were moved. Their
 * messages count up to the first message of the engine that runs them now, or up to the move while
 * there is no such message, so that nothing is counted twice.
 */
async function readFormerChannels(
  tx: Transaction,
  { engine_id: engineId, log_id: logId }: OutputLog,
  channelSids: number[],
) {
  if (channelSids.length === 0 || logId === null) return []
  const acceptedBefore = sql`coalesce(${formerChannel.succeeded_at}, ${formerChannel.moved_at})`
  return tx
    .select({
      channel_sid: formerChannel.channel_sid,
      acceptedBefore: acceptedBefore.mapWith(formerChannel.moved_at),
      ...ingestColumns,
    })
    .from(formerChannel)
    .innerJoin(channel, eq(channel.channel_id, formerChannel.channel_id))
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(
      and(
        eq(formerChannel.engine_id, engineId),
        eq(formerChannel.log_id, logId),
        inArray(formerChannel.channel_sid, channelSids),
      ),
    )
}

/** Returns the engine's channels with one of these ids, and those whose id is not stored yet. */
function readCandidateChannels(tx: Transaction, engineId: string, channelSids: number[]) {
  const isCandidate = or(inArray(channel.channel_sid, channelSids), isNull(channel.channel_sid))
  return tx
    .select({
      channel_sid: channel.channel_sid,
      source_sid: source.source_sid,
      pipeline_sid: provision.sid,
      ...ingestColumns,
    })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .leftJoin(
      provision,
      and(eq(provision.engine_id, channel.engine_id), eq(provision.record_id, channel.pipeline_id)),
    )
    .where(and(eq(channel.engine_id, engineId), isCandidate))
}

/**
 * Returns the id of the channel that connects a source to a pipeline, or null if it
 * has sent no messages.
 */
function findChannelSid(
  sidsByChannel: ReadonlyMap<number, MessageSids>,
  sourceSid: number | null,
  pipelineSid: number | null,
): number | null {
  if (sourceSid === null) return null
  for (const [sid, { source, pipeline }] of sidsByChannel) {
    if (source === sourceSid && pipeline === pipelineSid) return sid
  }
  return null
}

/** Returns the stored counters of each channel on an engine by channel id. */
async function readCounters(
  tx: Transaction,
  engineId: string,
  channelIds: string[],
): Promise<Map<string, ChannelCounters>> {
  if (channelIds.length === 0) return new Map()
  const rows = await tx
    .select()
    .from(channelCounter)
    .where(
      and(eq(channelCounter.engine_id, engineId), inArray(channelCounter.channel_id, channelIds)),
    )
  const rowsByChannel = Map.groupBy(rows, ({ channel_id }) => channel_id)

  const counters = new Map<string, ChannelCounters>()
  for (const channelId of channelIds) {
    const channelRows = rowsByChannel.get(channelId) ?? []
    const counterRows = channelRows.map(row => ({ ...row, timeMs: row.at.getTime() }))
    counters.set(channelId, new ChannelCounters(counterRows))
  }
  return counters
}

/** Stores the counters that have changed. */
export async function storeCounters(
  tx: Transaction,
  engineId: string,
  channels: Iterable<IngestChannel>,
): Promise<void> {
  const clearedIds: string[] = []
  const rows: (typeof channelCounter.$inferInsert)[] = []
  for (const { channel_id: channelId, counters } of channels) {
    const changes = counters.getChanges()
    if (changes.isCleared) clearedIds.push(channelId)
    for (const { timeMs, ...counter } of changes.rows) {
      rows.push({ engine_id: engineId, channel_id: channelId, ...counter, at: new Date(timeMs) })
    }
  }
  if (clearedIds.length > 0) {
    await tx
      .delete(channelCounter)
      .where(
        and(eq(channelCounter.engine_id, engineId), isAnyOf(channelCounter.channel_id, clearedIds)),
      )
  }
  if (rows.length === 0) return
  await tx.execute(sql`
    insert into channel_counter (engine_id, channel_id, name, key, value, at)
    select engine_id, channel_id, name, key, value, at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as changed (
      engine_id uuid,
      channel_id uuid,
      name text,
      key text,
      value float8,
      at timestamptz
    )
    on conflict (channel_id, engine_id, name, key) do update set
      value = excluded.value,
      at = excluded.at`)
}
