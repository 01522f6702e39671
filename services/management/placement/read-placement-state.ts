import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import type { Placement } from '@eyrie/contract/management/placement'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { channel, engine, engineSite, engineState, site, source } from '../db/schema/index.ts'
import type { PlacementEngine, PlacementSource, PlacementState } from './placement-state.ts'

/**
 * The sources of an engine are moved once it has been unreachable for this long, by the
 * clock of the database.
 */
export const LOST_AFTER_S = 15

/** Whether an engine has been unusable for `LOST_AFTER_S`, as a column or condition of a query. */
const longUnusable = sql<boolean>`
  coalesce(
    ${engineState.unusable_since} <= now() - ${LOST_AFTER_S} * interval '1 second',
    false
  )`

/** The placement of a source: its own, or that of its site. */
const effectivePlacement = sql<Placement>`
  coalesce(${source.source_placement}, ${site.site_placement})`

/**
 * Returns whether an unreachable engine has sources to move. Much faster than `readPlacementState`.
 */
export async function hasStrandedSources(tx: Transaction): Promise<boolean> {
  const [stranded] = await tx
    .select({ source_id: source.source_id })
    .from(engineState)
    .innerJoin(source, eq(source.engine_id, engineState.engine_id))
    .innerJoin(site, eq(site.site_id, source.site_id))
    .where(
      and(
        eq(engineState.engine_status, ENGINE_STATUS.offline),
        longUnusable,
        eq(effectivePlacement, 'automatic'),
      ),
    )
    .limit(1)
  return stranded !== undefined
}

/** Returns whether management chooses the engine of at least one source. */
export async function isAnyPlacementAutomatic(tx: Transaction): Promise<boolean> {
  const rows = await tx.execute<{ found: boolean }>(sql`
    select
      exists (select from site where site_placement = 'automatic')
      or exists (select from source where source_placement = 'automatic')
      as found`)
  return firstRow(rows).found
}

/**
 * Reads all engines with their capacity, and all sources that have channels with their load. Must
 * run with all rights.
 */
export async function readPlacementState(tx: Transaction): Promise<PlacementState> {
  const engineRows = await selectEngines(tx)
  const sourceRows = await selectSources(tx)
  const siteRows = await tx.select().from(engineSite)
  const sourcesByEngine = Map.groupBy(sourceRows, ({ engine_id }) => engine_id)
  const sitesByEngine = Map.groupBy(siteRows, ({ engine_id }) => engine_id)
  const findLoad = createLoadFinder(engineRows)

  const engines = engineRows.map((row): PlacementEngine => {
    const capacity = row.reported?.condition.capacity
    const ownSources = sourcesByEngine.get(row.engine_id) ?? []
    const ownLoad = ownSources.reduce((sum, ownSource) => sum + (findLoad(ownSource) ?? 0), 0)
    const sites = sitesByEngine.get(row.engine_id) ?? []
    return {
      engine_id: row.engine_id,
      engine_name: row.engine_name,
      isAvailable: row.status === ENGINE_STATUS.online,
      isLost: row.status === ENGINE_STATUS.offline && row.isUnusable,
      cores: capacity?.cores,
      otherLoad: Math.max(0, (capacity?.used ?? 0) - ownLoad),
      organization_id: row.organization_id,
      site_ids: sites.map(({ site_id }) => site_id),
    }
  })
  const sources = sourceRows.map(
    (row): PlacementSource => ({
      source_id: row.source_id,
      source_name: row.source_name,
      engine_id: row.engine_id,
      site_id: row.site_id,
      organization_id: row.organization_id,
      isAutomatic: row.placement === 'automatic',
      isSpread: row.isSpread,
      // Until its engine has measured the source, the load on its previous engine applies.
      cores: findLoad(row) ?? row.source_cores ?? undefined,
    }),
  )
  return { engines, sources }
}

const selectEngines = (tx: Transaction) =>
  tx
    .select({
      engine_id: engine.engine_id,
      engine_name: engine.engine_name,
      organization_id: engine.organization_id,
      status: engineState.engine_status,
      isUnusable: longUnusable,
      reported: engineState.condition,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .orderBy(engine.engine_id)

const selectSources = (tx: Transaction) =>
  tx
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
    // Sources without channels cause no load.
    .where(inArray(source.source_id, tx.select({ id: channel.source_id }).from(channel)))
    .orderBy(source.source_id)

/** A source by the id that its engine has assigned. */
interface SourceOnEngine {
  engine_id: string
  /** Null until the engine has created the source. */
  source_sid: number | null
}

/**
 * Returns a function that finds the load of a source, in CPU cores, in the last
 * report of its engine.
 */
function createLoadFinder(
  engineRows: Awaited<ReturnType<typeof selectEngines>>,
): (source: SourceOnEngine) => number | undefined {
  /** The loads of the sources of each engine, by `source_sid`. */
  const loadsByEngine = new Map<string, Map<number, number | undefined>>()
  for (const { engine_id, reported } of engineRows) {
    const conditions = reported?.condition.sources ?? []
    loadsByEngine.set(engine_id, new Map(conditions.map(({ id, load }) => [id, load])))
  }
  return ({ engine_id, source_sid }) =>
    source_sid === null ? undefined : loadsByEngine.get(engine_id)?.get(source_sid)
}
