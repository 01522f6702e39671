import type { Client } from '@eyrie/client'
import type { Drift } from '@eyrie/contract/management/index'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { channel, channelState } from '../../db/schema/index.ts'

export interface ChannelKeeping {
  engine_id: string
  engine: Client
  database: Database
  /** Of a record, on the engine. */
  sidOf(record_id: string): number | undefined
  drift: readonly Drift[]
}

/** Keeps the ids that channels have on the engine, and whether they are there as they are stored. */
export async function provisionChannels(keeping: ChannelKeeping): Promise<void> {
  const { engine_id, engine, database, sidOf, drift } = keeping
  const { channels = [] } = await engine.getExports({ filter: ['channels'] })
  const sids = new Map(channels.map(({ id, source, pipeline }) => [`${source},${pipeline}`, id]))
  const reasons = new Map(drift.map(({ record_id, reason, field }) => [record_id, reason || changed(field)]))

  await database.system('provision an engine', async tx => {
    // None of them goes before its state is written.
    const stored = await tx.select().from(channel).where(eq(channel.engine_id, engine_id)).for('key share')
    for (const { channel_id, channel_sid, source_id, pipeline_id } of stored) {
      const sid = sids.get(`${sidOf(source_id)},${sidOf(pipeline_id)}`) ?? null
      if (sid !== channel_sid)
        await tx
          .update(channel)
          .set({ channel_sid: sid })
          .where(and(eq(channel.channel_id, channel_id), eq(channel.engine_id, engine_id)))
      const reason = reasons.get(source_id) ?? reasons.get(pipeline_id) ?? ''
      const is_verified = sid !== null && reason === ''
      // Why a channel is not there; one that is there says itself how it is.
      const absent = sid === null ? { status: 'unknown', reason } : {}
      await tx
        .insert(channelState)
        .values({ channel_id, is_verified, is_heard: true, ...absent })
        .onConflictDoUpdate({
          target: channelState.channel_id,
          set: { is_verified, is_heard: true, ...absent },
          setWhere: sql`(${channelState.is_verified}, ${channelState.is_heard}) is distinct from (${is_verified}, true)
            or ${sid === null}`,
        })
    }
  })
}

const changed = (field: string) => `${field} was changed on the engine`

/** Channels that have failed and are to be started again. */
export async function failedChannels(database: Database, engine_id: string): Promise<string[]> {
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
