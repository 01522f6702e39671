import type { SystemStatistics } from '@eyrie/contract'
import { type Drift, ENGINE_STATUS } from '@eyrie/contract/management/index'
import { and, eq, inArray, isNotNull, lt, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import type { Database, Transaction } from '../../db/database.ts'
import {
  channel,
  channelState,
  engineState,
  engineStatistics,
  picture,
  type ReportedCondition,
} from '../../db/schema/index.ts'
import { toStorable } from '../../db/storable-json.ts'
import { addPluginUsecases } from '../../inventory/plugin-usecases.ts'
import type { EngineFacts } from './engine-facts.ts'

type StateValues = PgUpdateSetSource<typeof engineState>

/** The name of these transactions in the audit log. */
const OPERATION = 'follow an engine'
const NO_LICENSE =
  'no license is activated: send a license to the engine with POST /api/v3/activation'

/**
 * Persists the state of one engine: whether it is connected, its facts, its load, and the position
 * up to which its output was stored.
 */
export interface EngineStateStore {
  recordConnected(facts: EngineFacts): Promise<void>
  /** Records a sample of the engine's load. */
  recordSample(statistics: SystemStatistics, isActivated: boolean): Promise<void>
  /** Records that the engine has responded just now. */
  recordContact(): Promise<void>
  /** `hash` is the SHA-256 of the engine's configuration. */
  recordConfigurationHash(hash: string): Promise<void>
  /**
   * Records that the engine cannot be used, and why. `status` is a value of `ENGINE_STATUS`, and
   * `unknown` before the first attempt to connect.
   */
  recordDisconnected(status: number, reason: string): Promise<void>
  /** Records the condition of the engine, for the management services that do not follow it. */
  recordCondition(reported: ReportedCondition): Promise<void>
  /**
   * Records the differences between the engine and its stored configuration that remain after a
   * reconciliation.
   */
  recordDrift(drift: Drift[]): Promise<void>
  /**
   * Resolves to the id of the engine's output log and the sequence number of its last stored
   * message. Undefined before the first message.
   */
  readPosition(): Promise<{ log_id: string; seq: number } | undefined>
  deleteSamplesBefore(time: Date): Promise<void>
}

export function createEngineStateStore(database: Database, engineId: string): EngineStateStore {
  const transact = (work: (tx: Transaction) => Promise<unknown>): Promise<void> =>
    database.system(OPERATION, async tx => {
      await work(tx)
    })

  /**
   * Inserts the engine's row with these values, or updates it. If the row exists already, the
   * values in `onUpdate` take precedence.
   */
  const upsert = (tx: Transaction, values: StateValues, onUpdate: StateValues = {}) =>
    tx
      .insert(engineState)
      // Drizzle has different types for values to insert and values to update. These are both.
      .values({ engine_id: engineId, ...values } as typeof engineState.$inferInsert)
      .onConflictDoUpdate({ target: engineState.engine_id, set: { ...values, ...onUpdate } })

  const storeState = (values: StateValues) => transact(tx => upsert(tx, values))

  /** Marks the stored states of the engine's channels as current or outdated. */
  function setChannelsCurrent(tx: Transaction, isCurrent: boolean) {
    const channels = tx
      .select({ id: channel.channel_id })
      .from(channel)
      .where(eq(channel.engine_id, engineId))
    return tx
      .update(channelState)
      .set({ is_heard: isCurrent })
      .where(inArray(channelState.channel_id, channels))
  }

  /** Makes the pictures due that were not fetched from the engine yet, without their back-off. */
  const retryPictures = (tx: Transaction) =>
    tx
      .update(picture)
      .set({ next_attempt: new Date() })
      .where(and(eq(picture.engine_id, engineId), isNotNull(picture.next_attempt)))

  return {
    recordConnected: ({ about, activation, catalog: reported, statistics, routes }) =>
      transact(async tx => {
        // The catalog contains texts of plugins.
        const catalog = toStorable(reported)
        await upsert(tx, {
          ...toConnectedState(activation.activated),
          engine_version: about.version,
          engine_api_version: about.api_versions.at(-1) ?? '',
          engine_host_name: about.hostname,
          engine_routes: routes,
          engine_catalog: catalog,
          engine_uptime: statistics.uptime,
        })
        await setChannelsCurrent(tx, true)
        await retryPictures(tx)
        await addPluginUsecases(tx, catalog)
      }),

    recordSample: ({ cpu, mem_physical, mem_virtual, uptime, time }, isActivated) =>
      transact(async tx => {
        await upsert(tx, { ...toConnectedState(isActivated), engine_uptime: uptime })
        await tx
          .insert(engineStatistics)
          .values({ engine_id: engineId, time: new Date(time), cpu, mem_physical, mem_virtual })
          .onConflictDoNothing()
      }),

    recordContact: () => storeState({ seen_at: new Date() }),
    recordConfigurationHash: hash => storeState({ engine_hash: hash }),
    // Texts of cameras, plugins and other servers may contain any characters.
    recordCondition: condition => storeState({ condition: toStorable(condition) }),
    recordDrift: drift => storeState({ drift: toStorable(drift), drift_checked_at: sql`now()` }),

    recordDisconnected: (status, reason) =>
      transact(async tx => {
        const values = { engine_status: status, reason: toStorable(reason) }
        // This service begins to follow the engine, and has not tried to connect to it yet.
        const isNotTried = status === ENGINE_STATUS.unknown
        if (isNotTried) await upsert(tx, { ...values, unusable_since: null })
        else {
          // An outage that is recorded already has started earlier.
          const onUpdate = { unusable_since: sql`coalesce(${engineState.unusable_since}, now())` }
          await upsert(tx, { ...values, unusable_since: sql`now()` }, onUpdate)
        }
        await setChannelsCurrent(tx, false)
      }),

    readPosition: () =>
      database.system(OPERATION, async tx => {
        const [state] = await tx
          .select()
          .from(engineState)
          .where(eq(engineState.engine_id, engineId))
        return state?.log_id ? { log_id: state.log_id, seq: state.seq } : undefined
      }),

    deleteSamplesBefore: time =>
      transact(tx =>
        tx
          .delete(engineStatistics)
          .where(and(eq(engineStatistics.engine_id, engineId), lt(engineStatistics.time, time))),
      ),
  }
}

/**
 * Returns the state of a connected engine. Without a license an engine responds to calls,
 * but runs no channels.
 */
const toConnectedState = (isActivated: boolean) => ({
  engine_status: isActivated ? ENGINE_STATUS.online : ENGINE_STATUS.error,
  reason: isActivated ? '' : NO_LICENSE,
  unusable_since: null,
  engine_is_active: isActivated,
  seen_at: new Date(),
})
