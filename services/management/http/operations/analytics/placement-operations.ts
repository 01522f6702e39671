import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { withFullScope } from '../../../db/full-scope.ts'
import { site, source } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { moveSource } from '../../../placement/move-sources.ts'
import { planRebalance } from '../../../placement/plan-placement.ts'
import { readPlacementState } from '../../../placement/read-placement-state.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.placement

/**
 * API operations on placement, which decides on which engine a source and its channels run. `assertChanged` throws if the caller
 * may read a record but not change it.
 */
export const placementOperations = [
  defineLookup(routes.site, async ({ input: { site_id } }, tx) => {
    const [row] = await tx.select().from(site).where(eq(site.site_id, site_id))
    if (!row) return undefined
    const sources = await tx
      .select({
        source_id: source.source_id,
        source_name: source.source_name,
        engine_id: source.engine_id,
        source_placement: source.source_placement,
        placement: sql<'pinned' | 'automatic'>`coalesce(${source.source_placement}, ${row.site_placement})`,
      })
      .from(source)
      .where(eq(source.site_id, site_id))
      .orderBy(asc(source.source_name), asc(source.source_id))
    const { site_placement, site_is_spread } = row
    return { site_id, site_placement, site_is_spread, sources }
  }),

  defineOperation(routes.updateSite, async ({ input: { site_id, ...fields } }, tx) => {
    // The id makes the update valid that changes nothing.
    const values = { site_id, ...fields }
    assertChanged(await tx.update(site).set(values).where(eq(site.site_id, site_id)).returning())
    return undefined
  }),

  defineOperation(routes.updateSource, async ({ input }, tx) => {
    const { source_id, engine_id, ...fields } = input
    const values = { source_id, ...fields }
    const [row] = await tx.update(source).set(values).where(eq(source.source_id, source_id)).returning()
    const { engine_id: from_engine_id } = assertChanged(row ? [row] : [])
    if (engine_id !== undefined && engine_id !== from_engine_id)
      await withFullScope(tx, () => moveSource(tx, { source_id, from_engine_id, to_engine_id: engine_id }))
    return undefined
  }),

  defineOperation(routes.plan, async (_, tx) => ({ value: planRebalance(await readPlacementState(tx)) })),

  defineOperation(routes.apply, async ({ input: { moves } }, tx) => {
    for (const [index, move] of moves.entries()) await applyMove(tx, move, index)
    return undefined
  }),
]

async function applyMove(tx: Transaction, move: Parameters<typeof moveSource>[1], index: number) {
  if (await moveSource(tx, move)) return
  throw fieldError(
    `moves.${index}.from_engine_id`,
    'the source is not on this engine any more, or already on the other one: request a new plan',
    { code: 'conflict' },
  )
}
