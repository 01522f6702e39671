import { and, eq, exists, isNotNull, lt, notExists, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Transaction } from '../db/database.ts'
import {
  channel,
  channelState,
  device,
  engineState,
  formerChannel,
  type ReportedCondition,
  source,
} from '../db/schema/index.ts'

/** The move of a source and its channels from one engine to another. */
export interface SourceMove {
  source_id: string
  from_engine_id: string
  to_engine_id: string
}

/**
 * Former channels are deleted after this time. The log of an engine is not large enough to
 * deliver older messages.
 */
const MAX_DELIVERY_DAYS = 90

/**
 * Moves a source and its channels in the database. The next reconciliation creates them on the new
 * engine, and deletes them on the old one. Returns false if the source is no longer on the old
 * engine, or is already on the new one. Must run with all rights.
 */
export async function moveSource(
  tx: Transaction,
  { source_id, from_engine_id, to_engine_id }: SourceMove,
): Promise<boolean> {
  // The ingest locks this row too, so that no message of the old engine is stored during the move.
  const [oldEngine] = await tx
    .select({ log_id: engineState.provisioned_log_id, reported: engineState.condition })
    .from(engineState)
    .where(eq(engineState.engine_id, from_engine_id))
    .for('update')
  const [movedSource] = await tx
    .select({ device_id: source.device_id, source_sid: source.source_sid })
    .from(source)
    .where(and(eq(source.source_id, source_id), eq(source.engine_id, from_engine_id)))
    .for('update')
  if (!movedSource || from_engine_id === to_engine_id) return false

  if (oldEngine?.log_id) await storeFormerChannels(tx, source_id, from_engine_id, oldEngine.log_id)
  await resetChannels(tx, source_id)
  const reported = oldEngine?.reported
  const load = findLoad(reported, movedSource.source_sid)
  if (reported && load !== undefined) {
    const condition = removeLoad(reported, movedSource.source_sid, load)
    await tx.update(engineState).set({ condition }).where(eq(engineState.engine_id, from_engine_id))
  }

  // The channels follow by their foreign key, `on update cascade`.
  await tx
    .update(source)
    .set({
      engine_id: to_engine_id,
      source_sid: null,
      ...(load !== undefined && { source_cores: load }),
    })
    .where(eq(source.source_id, source_id))
  await moveDevice(tx, movedSource.device_id, from_engine_id, to_engine_id)
  return true
}

/**
 * Stores which ids the channels had on the old engine. The old engine may still deliver messages,
 * which are assigned to the channels by these ids.
 */
async function storeFormerChannels(
  tx: Transaction,
  sourceId: string,
  engineId: string,
  logId: string,
): Promise<void> {
  const rows = await tx
    .select({ channel_id: channel.channel_id, channel_sid: channel.channel_sid })
    .from(channel)
    .where(and(eq(channel.source_id, sourceId), isNotNull(channel.channel_sid)))
  for (const { channel_id, channel_sid } of rows) {
    await tx
      .insert(formerChannel)
      .values({
        engine_id: engineId,
        log_id: logId,
        // The query returns only channels that have an id on the engine.
        channel_sid: channel_sid!,
        channel_id,
        moved_at: sql`clock_timestamp()`,
      })
      .onConflictDoNothing()
  }
  await tx
    .delete(formerChannel)
    .where(lt(formerChannel.moved_at, sql`now() - ${MAX_DELIVERY_DAYS} * interval '1 day'`))
}

/**
 * Deletes the ids that the old engine has assigned, and marks the states of the
 * channels as outdated.
 */
async function resetChannels(tx: Transaction, sourceId: string): Promise<void> {
  const whereSource = eq(channel.source_id, sourceId)
  await tx.update(channel).set({ channel_sid: null }).where(whereSource)
  const channels = tx.select({ id: channel.channel_id }).from(channel).where(whereSource)
  await tx
    .update(channelState)
    .set({ is_heard: false, is_verified: false })
    .where(sql`${channelState.channel_id} in ${channels}`)
}

/** Returns the load of a source in CPU cores; undefined if its engine has not measured it. */
const findLoad = (
  reported: ReportedCondition | null | undefined,
  sourceSid: number | null,
): number | undefined => reported?.condition.sources.find(({ id }) => id === sourceSid)?.load

/**
 * Removes a source from the last report of its old engine. Plans would count its load on both
 * engines until the old engine reports again.
 */
function removeLoad(
  reported: ReportedCondition,
  sourceSid: number | null,
  load: number,
): ReportedCondition {
  const { capacity, sources } = reported.condition
  return {
    ...reported,
    condition: {
      ...reported.condition,
      ...(capacity && { capacity: { ...capacity, used: Math.max(0, capacity.used - load) } }),
      sources: sources.filter(({ id }) => id !== sourceSid),
    },
  }
}

/**
 * Moves the device of a moved source if no source of the device is left on the old engine. The
 * engine of a device determines the status of the device, and which users see the engine.
 */
async function moveDevice(
  tx: Transaction,
  deviceId: string,
  fromEngineId: string,
  toEngineId: string,
): Promise<void> {
  const deviceSource = alias(source, 'device_source')
  const selectSources = (engineId: string) =>
    tx
      .select({ source_id: deviceSource.source_id })
      .from(deviceSource)
      .where(and(eq(deviceSource.device_id, deviceId), eq(deviceSource.engine_id, engineId)))
  await tx
    .update(device)
    .set({ engine_id: toEngineId })
    .where(
      and(
        eq(device.device_id, deviceId),
        eq(device.engine_id, fromEngineId),
        notExists(selectSources(fromEngineId)),
        exists(selectSources(toEngineId)),
      ),
    )
}
