import type { Client } from '@eyrie/client'
import type { Drift } from '@eyrie/contract/management/index'
import { and, eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { channel, channelState } from '../../db/schema/index.ts'

// An engine creates a channel for each source that is connected to a pipeline, and assigns an id to
// the channel: its `sid`.

export interface ChannelProvisioning {
  engine_id: string
  engine: Client
  database: Database
  /** Returns the id that the engine has assigned to a source or pipeline. */
  findSid(recordId: string): number | undefined
  /** The sources and pipelines that differ from their stored records. */
  drift: readonly Drift[]
}

/**
 * Stores the ids of the channels on the engine, and whether each channel is verified: it exists on
 * the engine, and its source and pipeline match their stored records.
 */
export async function provisionChannels({
  engine_id: engineId,
  engine,
  database,
  findSid,
  drift,
}: ChannelProvisioning): Promise<void> {
  const { channels = [] } = await engine.getExports({ filter: ['channels'] })
  const sidsByKey = new Map(
    channels.map(({ id, source, pipeline }) => [toChannelKey(source, pipeline), id]),
  )
  const driftReasons = new Map(
    drift.map(({ record_id, reason, field }) => [
      record_id,
      reason || `${field} was changed on the engine`,
    ]),
  )

  await database.system('provision an engine', async tx => {
    // The lock prevents channels from being deleted before their states are stored.
    const rows = await tx
      .select()
      .from(channel)
      .where(eq(channel.engine_id, engineId))
      .for('key share')
    for (const row of rows) {
      const { channel_id: channelId, source_id: sourceId, pipeline_id: pipelineId } = row
      const key = toChannelKey(findSid(sourceId), findSid(pipelineId))
      const sid = sidsByKey.get(key) ?? null
      if (sid !== row.channel_sid) {
        await tx
          .update(channel)
          .set({ channel_sid: sid })
          .where(and(eq(channel.channel_id, channelId), eq(channel.engine_id, engineId)))
      }

      const reason = driftReasons.get(sourceId) ?? driftReasons.get(pipelineId) ?? ''
      await storeVerification(tx, channelId, { isMissing: sid === null, reason })
    }
  })
}

/** Identifies a channel by the ids of its source and pipeline on the engine. */
const toChannelKey = (sourceSid: number | undefined, pipelineSid: number | undefined) =>
  `${sourceSid},${pipelineSid}`

interface Verification {
  /** Whether the engine has no such channel. */
  isMissing: boolean
  /** How the source or pipeline of the channel differs from its stored record; empty if not. */
  reason: string
}

/** Stores whether a channel is verified. */
async function storeVerification(
  tx: Transaction,
  channelId: string,
  { isMissing, reason }: Verification,
): Promise<void> {
  const isVerified = !isMissing && reason === ''
  const values = {
    is_verified: isVerified,
    // The stored state is current, because the engine is connected.
    is_heard: true,
    // A channel that exists on the engine reports its own status.
    ...(isMissing && { status: 'unknown', reason }),
  }
  const differs = sql`
    (${channelState.is_verified}, ${channelState.is_heard}) is distinct from (${isVerified}, true)`
  await tx
    .insert(channelState)
    .values({ channel_id: channelId, ...values })
    .onConflictDoUpdate({
      target: channelState.channel_id,
      set: values,
      // Avoids rewriting rows that have not changed.
      setWhere: isMissing ? undefined : differs,
    })
}
