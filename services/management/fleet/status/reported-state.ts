import type { EngineOutage } from '@eyrie/contract'
import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { engine, engineState, type ReportedCondition } from '../../db/schema/index.ts'
import { isAnyOf } from '../../db/text-array.ts'

/**
 * The state of an engine as the management service that is connected to it (that follows it) has
 * stored it for the other services.
 */
export interface ReportedState {
  engine_id: string
  /** Null while the engine can be used. */
  outage: EngineOutage | null
  /** The last condition that the engine has reported. Null if there is none. */
  reported: ReportedCondition | null
}

/**
 * Reads the reported states of engines that other management services follow. An outage that is
 * shorter than `graceMs` is omitted, and so is an engine without a stored state.
 */
export async function readReportedStates(
  database: Database,
  engineIds: readonly string[],
  graceMs: number,
): Promise<ReportedState[]> {
  if (engineIds.length === 0) return []
  const rows = await database.system('follow engines', tx => selectStates(tx, engineIds, graceMs), {
    accessMode: 'read only',
  })
  return rows.map(row => ({
    engine_id: row.engine_id,
    outage: row.hasLasted ? toOutage(row) : null,
    reported: row.reported,
  }))
}

const selectStates = (tx: Transaction, engineIds: readonly string[], graceMs: number) =>
  tx
    .select({
      engine_id: engine.engine_id,
      engine_name: engine.engine_name,
      status: engineState.engine_status,
      reason: engineState.reason,
      seen_at: engineState.seen_at,
      unusable_since: engineState.unusable_since,
      /** Whether the outage has lasted for the grace time. */
      hasLasted: sql<boolean>`
        coalesce(
          ${engineState.unusable_since} <= now() - ${graceMs} * interval '1 millisecond',
          false
        )`,
      reported: engineState.condition,
    })
    .from(engine)
    .innerJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .where(isAnyOf(engine.engine_id, engineIds))

type StateRow = Awaited<ReturnType<typeof selectStates>>[number]

function toOutage(row: StateRow): EngineOutage | null {
  // An engine that has never answered has been unusable since the first attempt.
  const since = row.seen_at ?? row.unusable_since
  if (!since) return null
  return {
    engine_id: row.engine_id,
    engine_name: row.engine_name,
    status: row.status === ENGINE_STATUS.offline ? 'offline' : 'error',
    since: since.toISOString(),
    reason: row.reason,
  }
}
