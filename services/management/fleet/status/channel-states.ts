import type { Client } from '@eyrie/client'
import type { Log } from '@eyrie/kit'
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { isUnstorable } from '../../db/database-errors.ts'
import { channel, channelState, provision } from '../../db/schema/index.ts'
import { toStorable } from '../../db/storable-json.ts'
import type { ReceivedMessage } from '../../events/ingest/ingest-port.ts'

/** The name of these transactions in the audit log. */
const OPERATION = 'follow an engine'

/** An engine whose channel states are stored. */
export interface TrackedEngine {
  engine_id: string
  engine: Client
  database: Database
  log: Log
}

/**
 * Stores the states in messages like `storeChannelStates`. If one of them cannot be stored, stores
 * the states that the engine reports now instead, and resolves to true because a channel may have
 * failed.
 */
export async function storeOrRefreshChannelStates(
  { engine_id: engineId, engine, database, log }: TrackedEngine,
  messages: readonly ReceivedMessage[],
): Promise<boolean> {
  try {
    return await storeChannelStates(database, engineId, messages)
  } catch (error) {
    if (!isUnstorable(error)) throw error
    log.error({ err: error }, 'failed to store reported states of channels')
    await refreshChannelStates(database, engineId, engine)
    return true
  }
}

/**
 * Stores the latest state that an engine has reported for each of its channels. The messages
 * identify a channel by its `sid`, the id that the engine has assigned. Resolves to whether any of
 * these channels has failed.
 */
async function storeChannelStates(
  database: Database,
  engineId: string,
  messages: readonly ReceivedMessage[],
): Promise<boolean> {
  const statesBySid = new Map<number, { status: string; reason: string; heard_at: Date }>()
  for (const message of messages) {
    if (message.kind !== 'state' || message.channel === null) continue

    const { state, reason = '', lost } = message.data
    statesBySid.set(message.channel, {
      status: lost ? 'lost' : state,
      reason: toStorable(reason),
      heard_at: new Date(message.time),
    })
  }
  if (statesBySid.size === 0) return false

  const sids = [...statesBySid.keys()]
  await database.system(OPERATION, async tx => {
    const channels = await tx
      .select()
      .from(channel)
      .where(and(eq(channel.engine_id, engineId), inArray(channel.channel_sid, sids)))
      // The lock prevents channels from being deleted before their states are stored.
      .for('key share')
    for (const { channel_id, channel_sid: sid } of channels) {
      const state = sid === null ? undefined : statesBySid.get(sid)
      if (!state) continue
      // `is_heard` marks the state as current.
      const values = { is_heard: true, ...state }
      await tx
        .insert(channelState)
        .values({ channel_id, ...values })
        .onConflictDoUpdate({ target: channelState.channel_id, set: values })
    }
  })
  return [...statesBySid.values()].some(({ status }) => status === 'failed')
}

/**
 * Stores the states of all channels of an engine, as the engine reports them now. Called when
 * state messages were lost.
 */
export async function refreshChannelStates(
  database: Database,
  engineId: string,
  engine: Client,
): Promise<void> {
  const pipelines = await database.system(OPERATION, tx =>
    tx
      .select({ pipeline_id: provision.record_id, sid: provision.sid })
      .from(provision)
      .where(
        and(
          eq(provision.engine_id, engineId),
          eq(provision.kind, 'pipeline'),
          isNotNull(provision.sid),
        ),
      ),
  )
  for (const { pipeline_id: pipelineId, sid } of pipelines) {
    // The query returns only pipelines with an id. The channels of a pipeline have the
    // status of their pipeline.
    const { status, reason = '' } = await engine.pipelineStatistics(sid!)
    await database.system(OPERATION, tx => {
      const channels = tx
        .select({ id: channel.channel_id })
        .from(channel)
        .where(
          and(
            eq(channel.pipeline_id, pipelineId),
            eq(channel.engine_id, engineId),
            isNotNull(channel.channel_sid),
          ),
        )
      return tx
        .update(channelState)
        .set({ status, reason: toStorable(reason), heard_at: new Date() })
        .where(inArray(channelState.channel_id, channels))
    })
  }
}
