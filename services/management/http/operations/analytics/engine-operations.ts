import { managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, exists, inArray, notInArray } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { engine, engineSite, site } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Fleet } from '../../../fleet/fleet.ts'
import { findEngines, readEngineLoad } from '../../../fleet/status/engine-queries.ts'
import type { Principal } from '../../../rights/principal.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { longOperation, type Operation, operation } from '../../api/operation.ts'
import { assertChanged, findReferences } from '../../api/references.ts'

const routes = managementRoutes.engine

export function engineOperations({ secrets, fleet }: { secrets: Secrets; fleet: Fleet }): Operation[] {
  return [
    operation(routes.create, async ({ input: { site_ids = [], engine_key = '', ...fields }, caller }, tx) => {
      const organization_id = await ownerOf(tx, caller, site_ids)
      const [made] = await tx
        .insert(engine)
        .values({ ...fields, organization_id, engine_key: secrets.seal(engine_key) })
        .returning()
      await setSites(tx, made!.engine_id, site_ids)
      return { created: made!.engine_id }
    }),

    operation(routes.update, async ({ input: { engine_id, site_ids, engine_key, ...fields } }, tx) => {
      const sealed = engine_key === undefined ? {} : { engine_key: secrets.seal(engine_key) }
      const values = { ...fields, ...sealed, engine_updated_at: new Date() }
      assertChanged(await tx.update(engine).set(values).where(eq(engine.engine_id, engine_id)).returning())
      if (site_ids) await setSites(tx, engine_id, site_ids)
      return undefined
    }),

    operation(routes.delete, async ({ input: { engine_id } }, tx) => {
      assertChanged(await tx.delete(engine).where(eq(engine.engine_id, engine_id)).returning())
      return undefined
    }),

    longOperation(routes.repair, async ({ input, caller }, database) => {
      const { engine_id } = input
      await database.as(caller, routes.repair.path, async tx => {
        await findReferences(tx, routes.repair, input)
        // Whoever may change the engine's record may change the engine.
        assertChanged(
          await tx.update(engine).set({ engine_id }).where(eq(engine.engine_id, engine_id)).returning(),
        )
      })
      await fleet.repair(engine_id)
      return { value: { engine_id, ...fleet.getDriftReport(engine_id) } }
    }),

    operation(routes.list, async ({ input: { site_ids } }, tx) => ({
      value: await findEngines(tx, site_ids.length === 0 ? undefined : exists(atSites(tx, site_ids))),
    })),

    operation(routes.stats, async ({ input: { engine_id } }, tx) => ({
      value: await readEngineLoad(tx, engine_id),
    })),

    operation(routes.status, async ({ input: { engine_id } }, tx) => {
      const [found] = await findEngines(tx, eq(engine.engine_id, engine_id))
      return { value: { ...found!, ...(await readEngineLoad(tx, engine_id)) } }
    }),

    longOperation(routes.drift, async ({ input, caller }, database) => {
      const { engine_id } = input
      await database.as(caller, routes.drift.path, tx => findReferences(tx, routes.drift, input))
      await fleet.reconcile(engine_id)
      return { value: { engine_id, ...fleet.getDriftReport(engine_id) } }
    }),
  ]
}

const atSites = (tx: Transaction, site_ids: string[]) =>
  tx
    .select()
    .from(engineSite)
    .where(and(eq(engineSite.engine_id, engine.engine_id), inArray(engineSite.site_id, site_ids)))

async function setSites(tx: Transaction, engine_id: string, site_ids: string[]) {
  await tx
    .delete(engineSite)
    .where(and(eq(engineSite.engine_id, engine_id), notInArray(engineSite.site_id, site_ids)))
  if (site_ids.length > 0)
    await tx
      .insert(engineSite)
      .values(site_ids.map(site_id => ({ engine_id, site_id })))
      .onConflictDoNothing()
}

/** An engine belongs to the organization of its sites, else to its administrator's; null: to the whole installation. */
async function ownerOf(tx: Transaction, caller: Principal, site_ids: string[]): Promise<string | null> {
  const sites = await tx
    .selectDistinct({ organization_id: site.organization_id })
    .from(site)
    .where(inArray(site.site_id, site_ids))
  if (sites.length === 1) return sites[0]!.organization_id
  if (caller.role === 'superadmin') return null
  if (sites.length === 0 && caller.organizations.length === 1) return caller.organizations[0]!
  throw fieldError('site_ids', 'name sites of one organization, whose engine it will be')
}
