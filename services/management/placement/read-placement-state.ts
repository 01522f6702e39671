import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { eq, inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, engine, engineSite, engineState, site, source } from '../db/schema/index.ts'
import type { PlacementEngine, PlacementState } from './placement-state.ts'

/** Sources of an engine that has been unreachable for so long are moved. By the clock of the database. */
export const LOST_AFTER_S = 15

/** Reads the engines, the sources with channels, and what they need. Must run with all rights. */
export async function readPlacementState(tx: Transaction): Promise<PlacementState> {
  const engineRows = await tx
    .select({
      engine_id: engine.engine_id,
      engine_name: engine.engine_name,
      organization_id: engine.organization_id,
      status: engineState.engine_status,
      isOverdue: sql<boolean>`coalesce(${engineState.unusable_since} <= now() - ${LOST_AFTER_S} * interval '1 second', false)`,
      reported: engineState.condition,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .orderBy(engine.engine_id)
  const siteRows = await tx.select().from(engineSite)
  const sitesByEngine = Map.groupBy(siteRows, ({ engine_id }) => engine_id)
  const sourceRows = await tx
    .select({
      source_id: source.source_id,
      source_name: source.source_name,
      source_sid: source.source_sid,
      source_cores: source.source_cores,
      engine_id: source.engine_id,
      site_id: source.site_id,
      organization_id: site.organization_id,
      placement: sql<string>`coalesce(${source.source_placement}, ${site.site_placement})`,
      isSpread: site.site_is_spread,
    })
    .from(source)
    .innerJoin(site, eq(site.site_id, source.site_id))
    // Without channels, a source needs nothing.
    .where(inArray(source.source_id, tx.select({ id: channel.source_id }).from(channel)))
    .orderBy(source.source_id)
  const loads = new Map(
    engineRows.flatMap(({ engine_id, reported }) =>
      (reported?.condition.sources ?? []).map(({ id, load }) => [toKey(engine_id, id), load] as const),
    ),
  )
  const placed = sourceRows.map(({ source_sid, source_cores, placement, ...row }) => {
    const measured = source_sid === null ? undefined : loads.get(toKey(row.engine_id, source_sid))
    const cores = measured ?? source_cores ?? undefined
    return { measured, source: { ...row, isAutomatic: placement === 'automatic', cores } }
  })
  const placedByEngine = Map.groupBy(placed, ({ source }) => source.engine_id)
  const engines = engineRows.map(({ status, isOverdue, reported, ...row }): PlacementEngine => {
    const { cores, used = 0 } = reported?.condition.capacity ?? {}
    const onEngine = placedByEngine.get(row.engine_id) ?? []
    const measuredLoad = onEngine.reduce((sum, { measured = 0 }) => sum + measured, 0)
    return {
      ...row,
      isAvailable: status === ENGINE_STATUS.online,
      isLost: status === ENGINE_STATUS.offline && isOverdue,
      cores,
      otherLoad: Math.max(0, used - measuredLoad),
      site_ids: (sitesByEngine.get(row.engine_id) ?? []).map(({ site_id }) => site_id),
    }
  })
  return { engines, sources: placed.map(({ source }) => source) }
}

const toKey = (engine_id: string, sid: number) => `${engine_id} ${sid}`
