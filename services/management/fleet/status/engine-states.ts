import type { SystemStatistics } from '@eyrie/contract'
import { EyrieError } from '@eyrie/contract'
import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { and, eq, inArray, lt } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { channel, channelState, engineState, engineStatistics } from '../../db/schema/index.ts'
import { addPluginUsecases } from '../../inventory/usecases.ts'
import type { Facts } from './engine-facts.ts'

const NOT_ACTIVATED = 'no license is activated on it: POST one to its /api/v3/activation'
const operation = 'follow an engine'

/** Keeps what is heard of an engine. */
export interface EngineStates {
  online(facts: Facts): Promise<void>
  /** Of its load, and whether it is activated. */
  sampled(statistics: SystemStatistics, activated: boolean): Promise<void>
  /** It has answered: what is shown of it is how it is. */
  heard(): Promise<void>
  configured(engine_hash: string): Promise<void>
  notHeard(engine_status: number, reason: string): Promise<void>
  /** How far its output has been followed; undefined: it has never been. */
  position(): Promise<{ log_id: string; seq: number } | undefined>
  /** Forgets samples taken before. */
  forgetBefore(time: Date): Promise<void>
}

export function createEngineStates(database: Database, engine_id: string): EngineStates {
  const set = (tx: Transaction, values: Partial<typeof engineState.$inferInsert>) =>
    tx
      .insert(engineState)
      .values({ engine_id, ...values })
      .onConflictDoUpdate({ target: engineState.engine_id, set: values })
  const channelsAreHeard = (tx: Transaction, is_heard: boolean) =>
    tx
      .update(channelState)
      .set({ is_heard })
      .where(
        inArray(
          channelState.channel_id,
          tx.select({ id: channel.channel_id }).from(channel).where(eq(channel.engine_id, engine_id)),
        ),
      )

  return {
    online: ({ about, activation, catalog, statistics, routes }) =>
      database.system(operation, async tx => {
        await set(tx, {
          ...standing(activation.activated),
          engine_version: about.version,
          engine_api_version: about.api_versions.at(-1) ?? '',
          engine_host_name: about.hostname,
          engine_routes: routes,
          engine_catalog: catalog,
          engine_uptime: statistics.uptime,
        })
        await channelsAreHeard(tx, true)
        await addPluginUsecases(tx, catalog)
      }),

    sampled: ({ cpu, mem_physical, mem_virtual, uptime, time }, activated) =>
      database.system(operation, async tx => {
        await set(tx, { ...standing(activated), engine_uptime: uptime })
        await tx
          .insert(engineStatistics)
          .values({ engine_id, time: new Date(time), cpu, mem_physical, mem_virtual })
          .onConflictDoNothing()
      }),

    heard: () =>
      database.system(operation, async tx => {
        await set(tx, { seen_at: new Date() })
      }),

    configured: engine_hash =>
      database.system(operation, async tx => {
        await set(tx, { engine_hash })
      }),

    notHeard: (engine_status, reason) =>
      database.system(operation, async tx => {
        await set(tx, { engine_status, reason })
        await channelsAreHeard(tx, false)
      }),

    position: () =>
      database.system(operation, async tx => {
        const [state] = await tx.select().from(engineState).where(eq(engineState.engine_id, engine_id))
        return state?.log_id ? { log_id: state.log_id, seq: state.seq } : undefined
      }),

    forgetBefore: time =>
      database.system(operation, async tx => {
        await tx
          .delete(engineStatistics)
          .where(and(eq(engineStatistics.engine_id, engine_id), lt(engineStatistics.time, time)))
      }),
  }
}

/** An engine that is heard; without a license it does nothing. */
const standing = (activated: boolean) => ({
  engine_status: activated ? ENGINE_STATUS.online : ENGINE_STATUS.error,
  reason: activated ? '' : NOT_ACTIVATED,
  engine_is_active: activated,
  seen_at: new Date(),
})

const OWN_FAILURE = 'management cannot follow it: its log says why'

/** The status that an engine has by what has gone wrong with it, and the reason in words. */
export function statusOf(error: unknown): { status: number; reason: string } {
  if (!(error instanceof EyrieError)) return { status: ENGINE_STATUS.error, reason: OWN_FAILURE }
  const isAway = error.code === 'unavailable' && !isOfCertificate(error)
  return { status: isAway ? ENGINE_STATUS.offline : ENGINE_STATUS.error, reason: error.message }
}

/** Waiting makes no certificate good. */
function isOfCertificate(error: unknown): boolean {
  for (let it: unknown = error; it instanceof Error; it = it.cause) {
    const { code } = it as NodeJS.ErrnoException
    if (code !== undefined && /CERT|_TLS_|_SSL_|ALTNAME/.test(code)) return true
  }
  return false
}
