import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import type { Placement } from '@eyrie/contract/management/placement'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, engine, engineSite, engineState, site, source } from '../db/schema/index.ts'
import type { PlacementEngine, PlacementState } from './placement-state.ts'

/** Sources of an engine that has been unreachable for so long are moved. By the clock of the database. */
export const LOST_AFTER_S = 15

/** The condition that an engine has been unusable for so long that its sources are moved. */
const isOverdue = sql<boolean>`coalesce(${engineState.unusable_since} <= now() - ${LOST_AFTER_S} * interval '1 second', false)`

/** The placement of a source: its own, or that of its site. */
const effectivePlacement = sql<Placement>`coalesce(${source.source_placement}, ${site.site_placement})`

/** Returns whether a lost engine has sources that may be moved. This is fast, unlike reading the state of all sources. */
export async function hasStrandedSources(tx: Transaction): Promise<boolean> {
  const [stranded] = await tx
    .select({ source_id: source.source_id })
    .from(engineState)
    .innerJoin(source, eq(source.engine_id, engineState.engine_id))
    .innerJoin(site, eq(site.site_id, source.site_id))
    .where(
      and(
        eq(engineState.engine_status, ENGINE_STATUS.offline),
        isOverdue,
        eq(effectivePlacement, 'automatic'),
      ),
    )
    .limit(1)
  return stranded !== undefined
}

/** Returns whether management chooses the engine of any source. */
export async function isAnyPlacementAutomatic(tx: Transaction): Promise<boolean> {
  const [row] = await tx.execute<{ found: boolean }>(sql`
    select exists (select from site where site_placement = 'automatic')
      or exists (select from source where source_placement = 'automatic') as found`)
  return row!.found
}

/** Reads the engines, the sources with channels, and what they need. Must run with all rights. */
export async function readPlacementState(tx: Transaction): Promise<PlacementState> {
  const engineRows = await tx
    .select({
      engine_id: engine.engine_id,
      engine_name: engine.engine_name,
      organization_id: engine.organization_id,
      status: engineState.engine_status,
      isOverdue,
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
      placement: effectivePlacement,
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
