import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Transaction } from '../../db/database.ts'
import { engine, engineSite, engineState, engineStatistics, site } from '../../db/schema/index.ts'

/** `engine_is_statistics` is true if the newest sample of an engine's load is younger than this. */
const MAX_SAMPLE_AGE_MS = 60_000
/** Maximum number of points in a load history: about as many as a chart has pixels. */
const MAX_LOAD_POINTS = 1000

/** The state of an engine before the first connection. */
const INITIAL_STATE = {
  engine_status: ENGINE_STATUS.unknown,
  engine_version: '',
  engine_api_version: '',
  engine_host_name: '',
  engine_hash: '',
  engine_routes: {},
  engine_is_active: false,
  reason: '',
}

/**
 * Returns the engines that meet a condition on columns of `engine`, each with its last known
 * state and its sites.
 */
export async function findEngines(tx: Transaction, condition: SQL | undefined) {
  const rows = await tx
    .select()
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .where(condition)
    .orderBy(asc(engine.engine_name), asc(engine.engine_id))
  const ids = rows.map(row => row.engine.engine_id)
  const sitesByEngine = await findSitesByEngine(tx, ids)
  const sampledIds = await findSampledEngines(tx)

  return rows.map(row => {
    const { engine_id: engineId } = row.engine
    const sites = sitesByEngine.get(engineId) ?? []
    // The fields `site_id` and `site_key` show the first site only.
    const [firstSite] = sites
    const { reason, ...state } = row.engine_state ?? INITIAL_STATE
    return {
      ...state,
      ...row.engine,
      engine_reason: reason,
      engine_is_statistics: sampledIds.has(engineId),
      site_ids: sites.map(({ site_id }) => site_id),
      site_id: firstSite?.site_id ?? null,
      site_key: firstSite?.site_key ?? '',
    }
  })
}

/** Returns the sites of each engine, in order of their keys. */
async function findSitesByEngine(tx: Transaction, engineIds: string[]) {
  const rows = await tx
    .select({ engine_id: engineSite.engine_id, site_id: site.site_id, site_key: site.site_key })
    .from(engineSite)
    .innerJoin(site, eq(site.site_id, engineSite.site_id))
    .where(inArray(engineSite.engine_id, engineIds))
    .orderBy(asc(site.site_key))
  return Map.groupBy(rows, ({ engine_id }) => engine_id)
}

/** Returns the ids of the engines whose load has been sampled recently. */
async function findSampledEngines(tx: Transaction): Promise<Set<string>> {
  const rows = await tx
    .selectDistinct({ engine_id: engineStatistics.engine_id })
    .from(engineStatistics)
    .where(gt(engineStatistics.time, new Date(Date.now() - MAX_SAMPLE_AGE_MS)))
  return new Set(rows.map(({ engine_id }) => engine_id))
}

/**
 * Returns the load history of an engine, oldest first, and its uptime in seconds. A long history is
 * divided into equal intervals, with one mean value for each.
 */
export async function readEngineLoad(tx: Transaction, engineId: string) {
  const intervalMs = Math.max(1, Math.ceil((await readHistoryMs(tx, engineId)) / MAX_LOAD_POINTS))
  const [state] = await tx
    .select({ engine_uptime: engineState.engine_uptime })
    .from(engineState)
    .where(eq(engineState.engine_id, engineId))
  return {
    engine_id: engineId,
    engine_stats: await readMeanLoads(tx, engineId, intervalMs),
    engine_uptime: state?.engine_uptime ?? 0,
  }
}

/** Returns the time between the first and the last sample of an engine's load. */
async function readHistoryMs(tx: Transaction, engineId: string): Promise<number> {
  const { time } = engineStatistics
  const seconds = sql`extract(epoch from max(${time}) - min(${time}))`
  const [history] = await tx
    .select({ ms: sql<number>`coalesce(${seconds}, 0)::float8 * 1000` })
    .from(engineStatistics)
    .where(eq(engineStatistics.engine_id, engineId))
  return history?.ms ?? 0
}

/** Returns the mean load of an engine in each interval that has samples. */
async function readMeanLoads(tx: Transaction, engineId: string, intervalMs: number) {
  const { time, cpu, mem_physical: memPhysical, mem_virtual: memVirtual } = engineStatistics
  const interval = sql`date_bin(${sql.raw(`'${intervalMs} ms'`)}, ${time}, 'epoch')`
  const mean = (column: PgColumn) => sql<number>`avg(${column})`
  return tx
    .select({
      time: sql`min(${time})`.mapWith(time),
      cpu: mean(cpu),
      mem_physical: mean(memPhysical),
      mem_virtual: mean(memVirtual),
    })
    .from(engineStatistics)
    .where(eq(engineStatistics.engine_id, engineId))
    .groupBy(interval)
    .orderBy(asc(interval))
}
