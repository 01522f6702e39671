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
 * engine, and deletes them on the old one. Returns false if the source is not on the old engine any
 * more. Must run with all rights.
 */
export async function moveSource(
  tx: Transaction,
  { source_id: sourceId, from_engine_id: fromEngineId, to_engine_id: toEngineId }: SourceMove,
): Promise<boolean> {
  // The ingest locks this row too, so that no message of the old engine is stored during the move.
  const [oldEngine] = await tx
    .select({ log_id: engineState.provisioned_log_id, reported: engineState.condition })
    .from(engineState)
    .where(eq(engineState.engine_id, fromEngineId))
    .for('update')
  const [movedSource] = await tx
    .select({ device_id: source.device_id, source_sid: source.source_sid })
    .from(source)
    .where(and(eq(source.source_id, sourceId), eq(source.engine_id, fromEngineId)))
    .for('update')
  if (!movedSource || fromEngineId === toEngineId) return false

  if (oldEngine?.log_id) await storeFormerChannels(tx, sourceId, fromEngineId, oldEngine.log_id)
  await resetChannels(tx, sourceId)
  const sourceCores = await removeLoad(
    tx,
    fromEngineId,
    oldEngine?.reported,
    movedSource.source_sid,
  )
  // The channels follow by their foreign key, `on update cascade`.
  await tx
    .update(source)
    .set({
      engine_id: toEngineId,
      source_sid: null,
      ...(sourceCores !== undefined && { source_cores: sourceCores }),
    })
    .where(eq(source.source_id, sourceId))
  await moveDevice(tx, movedSource.device_id, fromEngineId, toEngineId)
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
) {
  const rows = await tx
    .select({ channel_id: channel.channel_id, channel_sid: channel.channel_sid })
    .from(channel)
    .where(and(eq(channel.source_id, sourceId), isNotNull(channel.channel_sid)))
  for (const { channel_id: channelId, channel_sid: channelSid } of rows) {
    await tx
      .insert(formerChannel)
      .values({
        engine_id: engineId,
        log_id: logId,
        // The query returns only channels with an id.
        channel_sid: channelSid!,
        channel_id: channelId,
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
async function resetChannels(tx: Transaction, sourceId: string) {
  const ofSource = eq(channel.source_id, sourceId)
  await tx.update(channel).set({ channel_sid: null }).where(ofSource)
  const channels = tx.select({ id: channel.channel_id }).from(channel).where(ofSource)
  await tx
    .update(channelState)
    .set({ is_heard: false, is_verified: false })
    .where(sql`${channelState.channel_id} in ${channels}`)
}

/**
 * Removes the load of a source from the last report of its old engine. Otherwise plans would count
 * the load on both engines until the old engine reports again. Returns the load in CPU cores;
 * undefined if it was not measured.
 */
async function removeLoad(
  tx: Transaction,
  engineId: string,
  reported: ReportedCondition | null | undefined,
  sourceSid: number | null,
): Promise<number | undefined> {
  const load = reported?.condition.sources.find(({ id }) => id === sourceSid)?.load
  if (!reported || load === undefined) return undefined
  const { capacity, sources } = reported.condition
  const condition: ReportedCondition = {
    ...reported,
    condition: {
      ...reported.condition,
      ...(capacity && { capacity: { ...capacity, used: Math.max(0, capacity.used - load) } }),
      sources: sources.filter(({ id }) => id !== sourceSid),
    },
  }
  await tx.update(engineState).set({ condition }).where(eq(engineState.engine_id, engineId))
  return load
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
) {
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
