import type { Client } from '@eyrie/client'
import type { Drift } from '@eyrie/contract/management/index'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { channel, channelState } from '../../db/schema/index.ts'

export interface ChannelProvisioning {
  engine_id: string
  engine: Client
  database: Database
  /** Returns the id on the engine of a source or pipeline. */
  findSid(record_id: string): number | undefined
  drift: readonly Drift[]
}

/**
 * Stores the ids that channels have on the engine, and whether they are verified: on the engine, with source and pipeline
 * as stored.
 */
export async function provisionChannels({
  engine_id,
  engine,
  database,
  findSid,
  drift,
}: ChannelProvisioning): Promise<void> {
  const { channels = [] } = await engine.getExports({ filter: ['channels'] })
  const sids = new Map(channels.map(({ id, source, pipeline }) => [`${source},${pipeline}`, id]))
  const driftReasons = new Map(
    drift.map(({ record_id, reason, field }) => [record_id, reason || `${field} was changed on the engine`]),
  )

  await database.system('provision an engine', async tx => {
    // The lock prevents a channel from being deleted before its state is written.
    const rows = await tx.select().from(channel).where(eq(channel.engine_id, engine_id)).for('key share')
    for (const { channel_id, channel_sid, source_id, pipeline_id } of rows) {
      const sid = sids.get(`${findSid(source_id)},${findSid(pipeline_id)}`) ?? null
      if (sid !== channel_sid)
        await tx
          .update(channel)
          .set({ channel_sid: sid })
          .where(and(eq(channel.channel_id, channel_id), eq(channel.engine_id, engine_id)))
      const reason = driftReasons.get(source_id) ?? driftReasons.get(pipeline_id) ?? ''
      const is_verified = sid !== null && reason === ''
      // A channel on the engine reports its own status; for a missing one the reason is stored here.
      const missing = sid === null ? { status: 'unknown', reason } : {}
      await tx
        .insert(channelState)
        .values({ channel_id, is_verified, is_heard: true, ...missing })
        .onConflictDoUpdate({
          target: channelState.channel_id,
          set: { is_verified, is_heard: true, ...missing },
          setWhere: sql`(${channelState.is_verified}, ${channelState.is_heard}) is distinct from (${is_verified}, true)
            or ${sid === null}`,
        })
    }
  })
}

/** Returns the failed channels that are configured for automatic recovery. */
export async function findFailedChannels(database: Database, engine_id: string): Promise<string[]> {
  const rows = await database.system('follow an engine', tx =>
    tx
      .select({ channel_id: channel.channel_id })
      .from(channel)
      .innerJoin(channelState, eq(channelState.channel_id, channel.channel_id))
      .where(
        and(
          eq(channel.engine_id, engine_id),
          eq(channel.is_auto_recovery, true),
          eq(channelState.status, 'failed'),
          isNotNull(channel.channel_sid),
        ),
      ),
  )
  return rows.map(({ channel_id }) => channel_id)
}
