import { EyrieError, type SystemStatistics } from '@eyrie/contract'
import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { and, eq, inArray, lt } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { channel, channelState, engineState, engineStatistics } from '../../db/schema/index.ts'
import { addPluginUsecases } from '../../inventory/usecases.ts'
import type { EngineFacts } from './engine-facts.ts'

const operation = 'follow an engine'

/** Persists the state of one engine. */
export interface EngineStateStore {
  recordConnected(facts: EngineFacts): Promise<void>
  recordSample(statistics: SystemStatistics, isActivated: boolean): Promise<void>
  /** Records that the engine has responded, so its displayed state is current. */
  recordContact(): Promise<void>
  recordConfigurationHash(engine_hash: string): Promise<void>
  recordDisconnected(engine_status: number, reason: string): Promise<void>
  /** The last stored position in the engine's output; undefined before the first message. */
  readPosition(): Promise<{ log_id: string; seq: number } | undefined>
  deleteSamplesBefore(time: Date): Promise<void>
}

export function createEngineStateStore(database: Database, engine_id: string): EngineStateStore {
  const upsert = (tx: Transaction, values: Partial<typeof engineState.$inferInsert>) =>
    tx
      .insert(engineState)
      .values({ engine_id, ...values })
      .onConflictDoUpdate({ target: engineState.engine_id, set: values })

  /** While `is_heard` is false, the stored states of the engine's channels are out of date. */
  function setChannelsHeard(tx: Transaction, is_heard: boolean) {
    const channels = tx
      .select({ id: channel.channel_id })
      .from(channel)
      .where(eq(channel.engine_id, engine_id))
    return tx.update(channelState).set({ is_heard }).where(inArray(channelState.channel_id, channels))
  }

  return {
    recordConnected: ({ about, activation, catalog, statistics, routes }) =>
      database.system(operation, async tx => {
        await upsert(tx, {
          ...toConnectedState(activation.activated),
          engine_version: about.version,
          engine_api_version: about.api_versions.at(-1) ?? '',
          engine_host_name: about.hostname,
          engine_routes: routes,
          engine_catalog: catalog,
          engine_uptime: statistics.uptime,
        })
        await setChannelsHeard(tx, true)
        await addPluginUsecases(tx, catalog)
      }),

    recordSample: ({ cpu, mem_physical, mem_virtual, uptime, time }, isActivated) =>
      database.system(operation, async tx => {
        await upsert(tx, { ...toConnectedState(isActivated), engine_uptime: uptime })
        await tx
          .insert(engineStatistics)
          .values({ engine_id, time: new Date(time), cpu, mem_physical, mem_virtual })
          .onConflictDoNothing()
      }),

    recordContact: () =>
      database.system(operation, async tx => {
        await upsert(tx, { seen_at: new Date() })
      }),

    recordConfigurationHash: engine_hash =>
      database.system(operation, async tx => {
        await upsert(tx, { engine_hash })
      }),

    recordDisconnected: (engine_status, reason) =>
      database.system(operation, async tx => {
        await upsert(tx, { engine_status, reason })
        await setChannelsHeard(tx, false)
      }),

    readPosition: () =>
      database.system(operation, async tx => {
        const [state] = await tx.select().from(engineState).where(eq(engineState.engine_id, engine_id))
        return state?.log_id ? { log_id: state.log_id, seq: state.seq } : undefined
      }),

    deleteSamplesBefore: time =>
      database.system(operation, async tx => {
        await tx
          .delete(engineStatistics)
          .where(and(eq(engineStatistics.engine_id, engine_id), lt(engineStatistics.time, time)))
      }),
  }
}

/** An engine without a license responds but runs no channels. */
const toConnectedState = (isActivated: boolean) => ({
  engine_status: isActivated ? ENGINE_STATUS.online : ENGINE_STATUS.error,
  reason: isActivated ? '' : 'no license is activated on it: POST one to its /api/v3/activation',
  engine_is_active: isActivated,
  seen_at: new Date(),
})

/** Why an engine is disconnected. */
export interface EngineFailure {
  /** A value of `ENGINE_STATUS`. */
  status: number
  reason: string
}

export function toEngineFailure(error: unknown): EngineFailure {
  if (!(error instanceof EyrieError))
    return { status: ENGINE_STATUS.error, reason: 'internal error: see the log of management' }
  // An engine that may come back by itself is offline; a rejected certificate needs an operator.
  const isOffline = error.code === 'unavailable' && !isCertificateError(error)
  return { status: isOffline ? ENGINE_STATUS.offline : ENGINE_STATUS.error, reason: error.message }
}

function isCertificateError(error: unknown): boolean {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException
    if (code !== undefined && /CERT|_TLS_|_SSL_|ALTNAME/.test(code)) return true
  }
  return false
}
