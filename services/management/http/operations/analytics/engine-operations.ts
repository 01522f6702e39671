import { enginePluginRoutes } from '@eyrie/contract/management/engine-plugins'
import { engineRoutes } from '@eyrie/contract/management/index'
import type { Egress } from '@eyrie/kit'
import { and, eq, exists, inArray, notInArray } from 'drizzle-orm'
import type { Database, Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { engine, engineSite, site, source } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { readEnginePlugins } from '../../../fleet/engine-plugins.ts'
import type { Fleet } from '../../../fleet/fleet.ts'
import { findEngines, readEngineLoad } from '../../../fleet/status/engine-queries.ts'
import { findWhollyVisible } from '../../../inventory/pipelines.ts'
import { assertRole } from '../../../rights/access.ts'
import type { Principal } from '../../../rights/principal.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import {
  defineMultiStepOperation,
  defineOperation,
  type Input,
  type Operation,
} from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'
import { assertReferencesExist } from '../../api/references.ts'

export interface EngineOperationsOptions {
  secrets: Secrets
  fleet: Fleet
  /** Opens the connections to engines. */
  egress: Egress
}

/**
 * API operations on registered engines: their connection settings, their state and load, and their
 * drift, which is the difference between an engine and its stored configuration. `engine_key` is
 * the token that the engine requires; it is stored encrypted. `assertChanged` throws if the caller
 * may read a record but not change it.
 */
export function engineOperations({ secrets, fleet, egress }: EngineOperationsOptions): Operation[] {
  return [
    defineOperation(engineRoutes.create, async ({ input }, tx) => {
      const { site_ids: siteIds = [], engine_key: engineKey = '', ...fields } = input
      const organizationId = await findOwnerOrganization(tx, siteIds)
      const created = firstRow(
        await tx
          .insert(engine)
          .values({
            ...fields,
            organization_id: organizationId,
            engine_key: secrets.encrypt(engineKey),
          })
          .returning(),
      )
      await setSites(tx, created.engine_id, siteIds)
      return { createdId: created.engine_id }
    }),

    defineOperation(engineRoutes.update, async ({ input, caller }, tx) => {
      const { engine_id: engineId, site_ids: siteIds, engine_key: engineKey, ...fields } = input
      await assertMayConnect(tx, caller, input)
      if (engineKey === undefined) await assertAddressUnchanged(tx, engineId, fields)
      const values: Partial<typeof engine.$inferInsert> = {
        ...fields,
        engine_updated_at: new Date(),
      }
      if (engineKey !== undefined) values.engine_key = secrets.encrypt(engineKey)
      assertChanged(
        await tx.update(engine).set(values).where(eq(engine.engine_id, engineId)).returning(),
      )
      if (siteIds) await setSites(tx, engineId, siteIds)
    }),

    defineOperation(engineRoutes.delete, async ({ input }, tx) => {
      assertChanged(
        await tx.delete(engine).where(eq(engine.engine_id, input.engine_id)).returning(),
      )
    }),

    defineMultiStepOperation(engineRoutes.repair, async ({ input, caller }, database) => {
      const { engine_id: engineId } = input
      await database.as(caller, engineRoutes.repair.path, async tx => {
        await assertReferencesExist(tx, engineRoutes.repair, input)
        // Checks that the caller may change the engine, by an update that changes nothing.
        assertChanged(
          await tx
            .update(engine)
            .set({ engine_id: engineId })
            .where(eq(engine.engine_id, engineId))
            .returning(),
        )
      })
      await fleet.repair(database, engineId)
      return { value: await readDrift(database, caller, engineId) }
    }),

    defineOperation(engineRoutes.list, async ({ input }, tx) => {
      const siteCondition =
        input.site_ids.length > 0 ? exists(selectSites(tx, input.site_ids)) : undefined
      return { value: await findEngines(tx, siteCondition) }
    }),

    defineOperation(engineRoutes.stats, async ({ input }, tx) => ({
      value: await readEngineLoad(tx, input.engine_id),
    })),

    defineOperation(engineRoutes.status, async ({ input }, tx) => {
      const [row] = await findEngines(tx, eq(engine.engine_id, input.engine_id))
      const load = await readEngineLoad(tx, input.engine_id)
      return { value: { ...row!, ...load } }
    }),

    defineMultiStepOperation(engineRoutes.drift, async ({ input, caller }, database) => {
      const { engine_id: engineId } = input
      await database.as(caller, engineRoutes.drift.path, tx =>
        assertReferencesExist(tx, engineRoutes.drift, input),
      )
      await fleet.reconcile(database, engineId)
      return { value: await readDrift(database, caller, engineId) }
    }),

    defineMultiStepOperation(enginePluginRoutes.plugins, async ({ input, caller }, database) => {
      await database.as(caller, enginePluginRoutes.plugins.path, tx =>
        assertReferencesExist(tx, enginePluginRoutes.plugins, input),
      )
      return { value: await readEnginePlugins(database, { secrets, egress }, input.engine_id) }
    }),
  ]

  /**
   * Returns the drift of the records that the caller may see. A pipeline is included only if all
   * its channels are visible.
   */
  async function readDrift(database: Database, caller: Principal, engineId: string) {
    const { drift, ...report } = await fleet.readDriftReport(database, engineId)
    if (caller.role === 'superadmin') return { engine_id: engineId, ...report, drift }

    const ids = [...new Set(drift.map(({ record_id }) => record_id))]
    const visibleIds = await database.as(caller, engineRoutes.drift.path, async tx => {
      const sources = await tx
        .select({ source_id: source.source_id })
        .from(source)
        .where(inArray(source.source_id, ids))
      return new Set([
        ...sources.map(({ source_id }) => source_id),
        ...(await findWhollyVisible(tx, ids)),
      ])
    })
    return {
      engine_id: engineId,
      ...report,
      drift: drift.filter(({ record_id }) => visibleIds.has(record_id)),
    }
  }
}

type EngineUpdate = Input<typeof engineRoutes.update>

/**
 * Throws `EyrieError` (`rights`) if the caller changes where the management service connects to, or
 * with which token. An administrator of one organization could otherwise make the appliance connect
 * to any server of its networks.
 */
async function assertMayConnect(
  tx: Transaction,
  caller: Principal,
  changed: EngineUpdate,
): Promise<void> {
  const [stored] = await tx.select().from(engine).where(eq(engine.engine_id, changed.engine_id))
  if (!stored) return
  const isUnchanged =
    changed.engine_key === undefined &&
    changed.engine_address === stored.engine_address &&
    changed.engine_port === stored.engine_port &&
    changed.engine_is_secure === stored.engine_is_secure
  if (!isUnchanged) {
    assertRole(
      'changing the address, the port, the scheme or the key of an engine requires',
      'superadmin',
      caller,
    )
  }
}

/**
 * Throws `EyrieError` (`syntax`) if an update without a key changes the address. The stored key
 * would be sent to the new address, where a caller who does not know the key could read it.
 */
async function assertAddressUnchanged(
  tx: Transaction,
  engineId: string,
  changed: Omit<EngineUpdate, 'engine_id'>,
) {
  const [stored] = await tx
    .select()
    .from(engine)
    .where(eq(engine.engine_id, engineId))
    .for('update')
  if (!stored || stored.engine_key === '') return
  // The case of a host name has no meaning.
  const isUnchanged =
    changed.engine_address.toLowerCase() === stored.engine_address.toLowerCase() &&
    changed.engine_port === stored.engine_port &&
    changed.engine_is_secure === stored.engine_is_secure
  if (!isUnchanged) {
    throw fieldError(
      'engine_key',
      'the stored key belongs to another address: send the key too, or an empty one if the engine requires none',
    )
  }
}

/** Subquery that selects the given sites of an engine. The outer query selects from `engine`. */
const selectSites = (tx: Transaction, siteIds: string[]) =>
  tx
    .select()
    .from(engineSite)
    .where(and(eq(engineSite.engine_id, engine.engine_id), inArray(engineSite.site_id, siteIds)))

/** Replaces the sites of an engine. */
async function setSites(tx: Transaction, engineId: string, siteIds: string[]) {
  await tx
    .delete(engineSite)
    .where(and(eq(engineSite.engine_id, engineId), notInArray(engineSite.site_id, siteIds)))
  if (siteIds.length > 0) {
    await tx
      .insert(engineSite)
      .values(siteIds.map(siteId => ({ engine_id: engineId, site_id: siteId })))
      .onConflictDoNothing()
  }
}

/**
 * Returns the organization that owns a new engine: the organization of its sites. Null: the
 * engine belongs to the whole installation. Throws `EyrieError` (`syntax`) if the sites belong to
 * several organizations.
 */
async function findOwnerOrganization(tx: Transaction, siteIds: string[]): Promise<string | null> {
  const sites = await tx
    .selectDistinct({ organization_id: site.organization_id })
    .from(site)
    .where(inArray(site.site_id, siteIds))

  if (sites.length <= 1) return sites[0]?.organization_id ?? null
  throw fieldError('site_ids', 'choose sites of one organization, which will own the engine')
}
