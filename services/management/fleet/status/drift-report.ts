import type { Drift } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { engineState } from '../../db/schema/index.ts'

/** How an engine differs from its stored configuration. */
export interface DriftReport {
  /** Time of the last reconciliation. Null before the first reconciliation. */
  checked_at: Date | null
  drift: Drift[]
}

/** Returns the result of the last reconciliation of an engine, by any management service. */
export async function readDriftReport(database: Database, engineId: string): Promise<DriftReport> {
  const [row] = await database.system('follow an engine', tx =>
    tx
      .select({ checked_at: engineState.drift_checked_at, drift: engineState.drift })
      .from(engineState)
      .where(eq(engineState.engine_id, engineId)),
  )
  return row ?? { checked_at: null, drift: [] }
}
