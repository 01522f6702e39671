import { asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Transaction } from '../../db/database.ts'
import { engine, engineSite, engineState, engineStatistics, site } from '../../db/schema/index.ts'

/** Whose load was sampled within this time is being recorded. */
const RECENT_MS = 60_000

const nothingHeard = {
  engine_status: 0,
  engine_version: '',
  engine_api_version: '',
  engine_host_name: '',
  engine_hash: '',
  engine_routes: {},
  engine_is_active: false,
  reason: '',
}

/** The engines that meet a condition on their columns, with what was last heard of them. */
export async function engines(tx: Transaction, condition: SQL | undefined) {
  const rows = await tx
    .select()
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .where(condition)
    .orderBy(asc(engine.engine_name), asc(engine.engine_id))
  const ids = rows.map(row => row.engine.engine_id)
  const sites = await tx
    .select({ engine_id: engineSite.engine_id, site_id: site.site_id, site_key: site.site_key })
    .from(engineSite)
    .innerJoin(site, eq(site.site_id, engineSite.site_id))
    .where(inArray(engineSite.engine_id, ids))
    .orderBy(asc(site.site_key))
  const sitesOf = Map.groupBy(sites, ({ engine_id }) => engine_id)
  const sampled = await tx
    .selectDistinct({ engine_id: engineStatistics.engine_id })
    .from(engineStatistics)
    .where(gt(engineStatistics.time, new Date(Date.now() - RECENT_MS)))
  const isSampled = new Set(sampled.map(({ engine_id }) => engine_id))

  return rows.map(({ engine, engine_state }) => {
    const { engine_id } = engine
    const own = sitesOf.get(engine_id) ?? []
    const { reason, ...heard } = engine_state ?? nothingHeard
    return {
      ...heard,
      ...engine,
      engine_reason: reason,
      engine_is_statistics: isSampled.has(engine_id),
      site_ids: own.map(({ site_id }) => site_id),
      site_id: own[0]?.site_id ?? null,
      site_key: own[0]?.site_key ?? '',
    }
  })
}

/** Samples that a history shows at most: more cannot be seen in a picture of it. */
const MOST_SAMPLES = 1000

/**
 * The history of an engine's load, oldest first, and for how many seconds it has been running. A long history is made of
 * means over equal parts of it.
 */
export async function engineLoad(tx: Transaction, engine_id: string) {
  const { time, cpu, mem_physical, mem_virtual } = engineStatistics
  const ofEngine = eq(engineStatistics.engine_id, engine_id)
  const [span] = await tx
    .select({ ms: sql<number>`coalesce(extract(epoch from max(${time}) - min(${time})), 0)::float8 * 1000` })
    .from(engineStatistics)
    .where(ofEngine)
  const partMs = Math.max(1, Math.ceil((span?.ms ?? 0) / MOST_SAMPLES))
  const part = sql`date_bin(${sql.raw(`'${partMs} ms'`)}, ${time}, 'epoch')`
  const mean = (column: PgColumn) => sql<number>`avg(${column})`
  const engine_stats = await tx
    .select({
      time: sql`min(${time})`.mapWith(time),
      cpu: mean(cpu),
      mem_physical: mean(mem_physical),
      mem_virtual: mean(mem_virtual),
    })
    .from(engineStatistics)
    .where(ofEngine)
    .groupBy(part)
    .orderBy(asc(part))
  const [state] = await tx
    .select({ engine_uptime: engineState.engine_uptime })
    .from(engineState)
    .where(eq(engineState.engine_id, engine_id))
  return { engine_id, engine_stats, engine_uptime: state?.engine_uptime ?? 0 }
}
