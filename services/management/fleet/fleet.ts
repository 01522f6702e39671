import { EyrieError } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Database } from '../db/database.ts'
import { logUnlessUnavailable } from '../db/database-errors.ts'
import { engine, FLEET_CHANNEL } from '../db/schema/index.ts'
import type { Ingest } from '../events/ingest/ingest-port.ts'
import type { Secrets } from '../secrets/secrets.ts'
import {
  createEngineLink,
  type DriftReport,
  type EngineLink,
  type FleetTiming,
} from './connection/engine-link.ts'
import { type LocalEngine, registerLocalEngine } from './registry/local-engine.ts'

/** The part of the fleet that the API uses. */
export interface Fleet {
  getDriftReport(engine_id: string): DriftReport
  /** Reconciles an engine now, if it is connected. */
  reconcile(engine_id: string): Promise<void>
  /**
   * Reconciles an engine and overwrites changes made on it. Rejects with `EyrieError` (`unavailable`) while the engine is
   * disconnected.
   */
  repair(engine_id: string): Promise<void>
}

export interface RunningFleet extends Fleet {
  /** Connects to the engines registered in this database. */
  start(database: Database): void
  stop(): Promise<void>
}

export interface FleetOptions {
  secrets: Secrets
  createIngest(database: Database): Ingest
  /** Registered at the first start. */
  local?: LocalEngine | undefined
  log: Log
  timing?: Partial<FleetTiming> | undefined
}

const defaultTiming: FleetTiming = {
  sampleMs: 10_000,
  retentionMs: 7 * 24 * 3_600_000,
  configurationPollMs: 5000,
  reconcileMs: 60_000,
  recovery: { initialMs: 5000, maxMs: 300_000 },
}

type FleetState =
  | { phase: 'idle' }
  | { phase: 'running'; stopListening: () => Promise<void> }
  | { phase: 'stopped' }

/** Manages the registered engines: one link for each, which is notified when stored data of its engine changes. */
export function createFleet({ secrets, createIngest, local, log, timing }: FleetOptions): RunningFleet {
  const links = new Map<string, EngineLink>()
  let state: FleetState = { phase: 'idle' }

  /** Opens links for new engines, closes those of deleted engines, and refreshes `changed`, or all without an id. */
  async function updateLinks(database: Database, ingest: Ingest, changed: string | undefined): Promise<void> {
    const rows = await database.system('follow engines', tx =>
      tx.select({ engine_id: engine.engine_id }).from(engine),
    )
    if (state.phase === 'stopped') return
    const registered = new Set(rows.map(({ engine_id }) => engine_id))
    for (const engine_id of registered) {
      if (links.has(engine_id)) continue
      const options = { engine_id, database, secrets, ingest, log, timing: { ...defaultTiming, ...timing } }
      links.set(engine_id, createEngineLink(options))
    }
    for (const [engine_id, link] of links) {
      if (registered.has(engine_id)) continue
      links.delete(engine_id)
      // The link finds its record deleted and ends.
      link.refresh()
    }
    if (changed !== undefined) links.get(changed)?.refresh()
    else for (const link of links.values()) link.refresh()
  }

  return {
    getDriftReport: engine_id => links.get(engine_id)?.getDriftReport() ?? { checked_at: null, drift: [] },

    reconcile: async engine_id => links.get(engine_id)?.reconcile(),

    async repair(engine_id) {
      const link = links.get(engine_id)
      if (!link)
        throw new EyrieError(
          'unavailable',
          'management has not connected to the engine yet: try again in a few seconds',
        )
      await link.repair()
    },

    start(database) {
      const ingest = createIngest(database)
      const handleChange = (engine_id?: string) => {
        database
          .retryUntilAvailable(() => updateLinks(database, ingest, engine_id))
          .catch(logUnlessUnavailable(log, 'failed to read registered engines'))
      }
      if (local)
        database
          .retryUntilAvailable(() => registerLocalEngine(database, secrets, local))
          .catch(logUnlessUnavailable(log, 'failed to register local engine'))
      state = {
        phase: 'running',
        stopListening: database.listen(FLEET_CHANNEL, handleChange, () => handleChange()),
      }
    },

    async stop() {
      const stopListening = state.phase === 'running' ? state.stopListening : undefined
      state = { phase: 'stopped' }
      await Promise.all([stopListening?.(), ...[...links.values()].map(link => link.stop())])
    },
  }
}
