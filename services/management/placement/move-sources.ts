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

/** A source and its channels move from one engine to another. */
export interface SourceMove {
  source_id: string
  from_engine_id: string
  to_engine_id: string
}

/** Engines deliver what they have stored within this time, or never: their logs are not that large. */
const MAX_DELIVERY_DAYS = 90

/**
 * Moves a source and its channels to another engine, which creates them as soon as its link is notified. The earlier engine gives
 * them up with its next reconciliation, before its messages are read. Returns false if the source is not on that engine any more.
 * Must run with all rights.
 */
export async function moveSource(
  tx: Transaction,
  { source_id, from_engine_id, to_engine_id }: SourceMove,
): Promise<boolean> {
  // In the order in which the ingest locks: messages of the earlier engine are stored before or after the move, not meanwhile.
  const [state] = await tx
    .select({ log_id: engineState.provisioned_log_id, reported: engineState.condition })
    .from(engineState)
    .where(eq(engineState.engine_id, from_engine_id))
    .for('update')
  const [moved] = await tx
    .select({ device_id: source.device_id, source_sid: source.source_sid })
    .from(source)
    .where(and(eq(source.source_id, source_id), eq(source.engine_id, from_engine_id)))
    .for('update')
  if (!moved || from_engine_id === to_engine_id) return false

  if (state?.log_id) await rememberChannels(tx, source_id, from_engine_id, state.log_id)
  await tx.update(channel).set({ channel_sid: null }).where(eq(channel.source_id, source_id))
  const channels = tx.select({ id: channel.channel_id }).from(channel).where(eq(channel.source_id, source_id))
  await tx
    .update(channelState)
    .set({ is_heard: false, is_verified: false })
    .where(sql`${channelState.channel_id} in ${channels}`)
  const source_cores = await removeLoad(tx, from_engine_id, state?.reported, moved.source_sid)
  // The foreign key changes the engine of the channels, too.
  await tx
    .update(source)
    .set({ engine_id: to_engine_id, source_sid: null, ...(source_cores !== undefined && { source_cores }) })
    .where(eq(source.source_id, source_id))
  await moveDevice(tx, moved.device_id, from_engine_id, to_engine_id)
  return true
}

/**
 * Removes a source from the condition that its earlier engine has reported last, so that a plan does not count its load twice before
 * the engine reports again. Returns this load; undefined if it was not measured.
 */
async function removeLoad(
  tx: Transaction,
  engine_id: string,
  reported: ReportedCondition | null | undefined,
  source_sid: number | null,
): Promise<number | undefined> {
  const load = reported?.condition.sources.find(({ id }) => id === source_sid)?.load
  if (!reported || load === undefined) return undefined
  const { capacity, sources } = reported.condition
  const condition: ReportedCondition = {
    ...reported,
    condition: {
      ...reported.condition,
      ...(capacity && { capacity: { ...capacity, used: Math.max(0, capacity.used - load) } }),
      sources: sources.filter(({ id }) => id !== source_sid),
    },
  }
  await tx.update(engineState).set({ condition }).where(eq(engineState.engine_id, engine_id))
  return load
}

/** Stores the ids of the channels on the earlier engine, which may have messages that have not been delivered. */
async function rememberChannels(tx: Transaction, source_id: string, engine_id: string, log_id: string) {
  const rows = await tx
    .select({ channel_id: channel.channel_id, channel_sid: channel.channel_sid })
    .from(channel)
    .where(and(eq(channel.source_id, source_id), isNotNull(channel.channel_sid)))
  for (const { channel_id, channel_sid } of rows)
    await tx
      .insert(formerChannel)
      .values({ engine_id, log_id, channel_sid: channel_sid!, channel_id, moved_at: sql`clock_timestamp()` })
      .onConflictDoNothing()
  await tx
    .delete(formerChannel)
    .where(lt(formerChannel.moved_at, sql`now() - ${MAX_DELIVERY_DAYS} * interval '1 day'`))
}

/** The device follows its last source, so that its users see the engine, and its status is that of its channels. */
async function moveDevice(tx: Transaction, device_id: string, from_engine_id: string, to_engine_id: string) {
  const other = alias(source, 'other')
  const onEngine = (engine_id: string) =>
    tx
      .select({ one: sql`1` })
      .from(other)
      .where(and(eq(other.device_id, device_id), eq(other.engine_id, engine_id)))
  await tx
    .update(device)
    .set({ engine_id: to_engine_id })
    .where(
      and(
        eq(device.device_id, device_id),
        eq(device.engine_id, from_engine_id),
        notExists(onEngine(from_engine_id)),
        exists(onEngine(to_engine_id)),
      ),
    )
}
