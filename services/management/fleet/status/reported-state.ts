import type { EngineOutage } from '@eyrie/contract'
import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { engine, engineState, type ReportedCondition } from '../../db/schema/index.ts'
import { isAnyOf } from '../../db/text-array.ts'

/** What the management service that follows an engine has stored about it for the others. */
export interface ReportedState {
  engine_id: string
  outage: EngineOutage | null
  reported: ReportedCondition | null
}

/** Reads what is stored about engines that other management services follow. `graceMs`: a shorter outage is none. */
export async function readFollowedByOthers(
  database: Database,
  engineIds: readonly string[],
  graceMs: number,
): Promise<ReportedState[]> {
  if (engineIds.length === 0) return []
  const rows = await database.system(
    'follow engines',
    tx =>
      tx
        .select({
          engine_id: engine.engine_id,
          engine_name: engine.engine_name,
          status: engineState.engine_status,
          reason: engineState.reason,
          seen_at: engineState.seen_at,
          unusable_since: engineState.unusable_since,
          isOverdue: sql<boolean>`coalesce(${engineState.unusable_since} <= now() - ${graceMs} * interval '1 millisecond', false)`,
          reported: engineState.condition,
        })
        .from(engine)
        .innerJoin(engineState, eq(engineState.engine_id, engine.engine_id))
        .where(isAnyOf(engine.engine_id, engineIds)),
    { accessMode: 'read only' },
  )
  return rows.map(
    ({ engine_id, engine_name, status, reason, seen_at, unusable_since, isOverdue, reported }) => {
      const since = seen_at ?? unusable_since
      const isOffline = status === ENGINE_STATUS.offline
      const outage: EngineOutage | null =
        isOverdue && since
          ? {
              engine_id,
              engine_name,
              status: isOffline ? 'offline' : 'error',
              since: since.toISOString(),
              reason,
            }
          : null
      return { engine_id, outage, reported }
    },
  )
}
