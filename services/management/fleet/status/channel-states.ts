import type { Client } from '@eyrie/client'
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { channel, channelState, pipeline } from '../../db/schema/index.ts'
import type { ReceivedMessage } from '../../events/ingest/ingest-port.ts'

const operation = 'follow an engine'

/** Stores the latest state of each channel in the messages. Resolves to whether any of them has failed. */
export async function storeChannelStates(
  database: Database,
  engine_id: string,
  messages: readonly ReceivedMessage[],
): Promise<boolean> {
  const states = new Map<number, { status: string; reason: string; heard_at: Date }>()
  for (const message of messages) {
    if (message.kind !== 'state' || message.channel === null) continue
    const { state, reason = '', lost } = message.data
    states.set(message.channel, { status: lost ? 'lost' : state, reason, heard_at: new Date(message.time) })
  }
  if (states.size === 0) return false

  await database.system(operation, async tx => {
    const channels = await tx
      .select()
      .from(channel)
      .where(and(eq(channel.engine_id, engine_id), inArray(channel.channel_sid, [...states.keys()])))
      // The lock prevents a channel from being deleted before its state is written.
      .for('key share')
    for (const { channel_id, channel_sid } of channels) {
      const state = states.get(channel_sid!)!
      await tx
        .insert(channelState)
        .values({ channel_id, is_heard: true, ...state })
        .onConflictDoUpdate({ target: channelState.channel_id, set: { is_heard: true, ...state } })
    }
  })
  return [...states.values()].some(({ status }) => status === 'failed')
}

/** Queries the engine for the states of its pipelines and stores them for their channels, when state messages were lost. */
export async function refreshChannelStates(
  database: Database,
  engine_id: string,
  engine: Client,
): Promise<void> {
  const pipelines = await database.system(operation, tx =>
    tx
      .select()
      .from(pipeline)
      .where(and(eq(pipeline.engine_id, engine_id), isNotNull(pipeline.pipeline_sid))),
  )
  for (const { pipeline_id, pipeline_sid } of pipelines) {
    const { status, reason = '' } = await engine.pipelineStatistics(pipeline_sid!)
    await database.system(operation, tx => {
      const channels = tx
        .select({ id: channel.channel_id })
        .from(channel)
        .where(and(eq(channel.pipeline_id, pipeline_id), isNotNull(channel.channel_sid)))
      return tx
        .update(channelState)
        .set({ status, reason, heard_at: new Date() })
        .where(inArray(channelState.channel_id, channels))
    })
  }
}
