import { placementRoutes } from '@eyrie/contract/management/index'
import { asc, eq, sql } from 'drizzle-orm'
import { site, source } from '../../../db/schema/index.ts'
import {
  applyMoves,
  updateSitePlacement,
  updateSourcePlacement,
} from '../../../placement/change-placement.ts'
import { planRebalance } from '../../../placement/plan-placement.ts'
import { readOverview } from '../../../placement/read-overview.ts'
import { readPlacementState } from '../../../placement/read-placement-state.ts'
import { readOffer, withdrawOffer } from '../../../system-alerts/placement-offer.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/**
 * API operations on placement, which decides on which engine a source and its channels run.
 * `assertChanged` throws if the caller may read a record but not change it.
 */
export const placementOperations = [
  defineLookup(placementRoutes.site, async ({ input }, tx) => {
    const [row] = await tx.select().from(site).where(eq(site.site_id, input.site_id))
    if (!row) return undefined
    const sources = await tx
      .select({
        source_id: source.source_id,
        source_name: source.source_name,
        engine_id: source.engine_id,
        source_placement: source.source_placement,
        placement: sql<
          'pinned' | 'automatic'
        >`coalesce(${source.source_placement}, ${row.site_placement})`,
      })
      .from(source)
      .where(eq(source.site_id, input.site_id))
      .orderBy(asc(source.source_name), asc(source.source_id))
    const { site_placement, site_is_spread } = row
    return { site_id: input.site_id, site_placement, site_is_spread, sources }
  }),

  defineOperation(placementRoutes.updateSite, async ({ input }, tx) => {
    assertChanged(await updateSitePlacement(tx, input))
  }),

  defineOperation(placementRoutes.updateSource, async ({ input }, tx) => {
    assertChanged(await updateSourcePlacement(tx, input))
  }),

  defineOperation(placementRoutes.overview, async (_, tx) => ({ value: await readOverview(tx) })),

  defineOperation(placementRoutes.plan, async (_, tx) => ({
    value: { ...planRebalance(await readPlacementState(tx)), offer: await readOffer(tx) },
  })),

  defineOperation(placementRoutes.apply, async ({ input: { moves } }, tx) => {
    await applyMoves(tx, moves)
    await withdrawOffer(tx)
  }),
]
