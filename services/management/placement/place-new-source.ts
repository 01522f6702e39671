import { eq, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { site, source } from '../db/schema/index.ts'
import { moveSource } from './move-sources.ts'
import { planNewSource } from './plan-placement.ts'
import { readPlacementState } from './read-placement-state.ts'

/**
 * Moves a source that has just been created to the engine with the most free capacity, if
 * management places the sources of its site. It stays on the requested engine if no engine is
 * available. Must run with all rights.
 */
export async function placeNewSource(
  tx: Transaction,
  sourceId: string,
  requestedEngineId: string,
): Promise<void> {
  const [created] = await tx
    .select({
      source_name: source.source_name,
      site_id: source.site_id,
      organization_id: site.organization_id,
      isSpread: site.site_is_spread,
      placement: sql<string>`coalesce(${source.source_placement}, ${site.site_placement})`,
    })
    .from(source)
    .innerJoin(site, eq(site.site_id, source.site_id))
    .where(eq(source.source_id, sourceId))
  if (created?.placement !== 'automatic') return

  const planned = {
    ...created,
    source_id: sourceId,
    engine_id: requestedEngineId,
    isAutomatic: true,
    cores: undefined,
  }
  const target = planNewSource(await readPlacementState(tx), planned)
  if (target) {
    await moveSource(tx, {
      source_id: sourceId,
      from_engine_id: requestedEngineId,
      to_engine_id: target.engine_id,
    })
  }
}
