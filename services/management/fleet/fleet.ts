import { type EngineOutage, EyrieError } from '@eyrie/contract'
import type { Egress, Log } from '@eyrie/kit'
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
import type { ConditionListener } from './connection/engine-monitors.ts'
import { type LocalEngine, registerLocalEngine } from './registry/local-engine.ts'

/**
 * The engines that are registered in the database, as the API uses them. The management service is connected to
 * each of them and keeps it configured as stored.
 */
export interface Fleet {
  getDriftReport(engine_id: string): DriftReport
  /** Applies the stored configuration to an engine now, if the engine is connected. */
  reconcile(engine_id: string): Promise<void>
  /**
   * Applies the stored configuration to an engine and overwrites the changes that other clients have made on it. Rejects
   * with `EyrieError` (`unavailable`) while the engine is disconnected.
   */
  repair(engine_id: string): Promise<void>
}

export interface RunningFleet extends Fleet {
  /** Connects to the engines registered in this database. */
  start(database: Database): void
  /** Returns the engines that cannot be used, sorted by name. */
  listOutages(): EngineOutage[]
  stop(): Promise<void>
}

export interface FleetOptions {
  secrets: Secrets
  /** Opens the connections to engines. */
  egress: Egress
  createIngest(database: Database): Ingest
  /** Called every few seconds with the condition of a connected engine. */
  onCondition: ConditionListener
  /** The engine of this appliance, which is registered at the first start. */
  local?: LocalEngine | undefined
  log: Log
  timing?: Partial<FleetTiming> | undefined
}

const DAY_MS = 24 * 3_600_000

const DEFAULT_TIMING: FleetTiming = {
  sampleMs: 10_000,
  retentionMs: 7 * DAY_MS,
  configurationPollMs: 5000,
  reconcileMs: 60_000,
  recovery: { initialMs: 5000, maxMs: 300_000 },
  outageGraceMs: 5000,
}

type FleetState =
  | { phase: 'idle' }
  | { phase: 'running'; stopListening: () => Promise<void> }
  | { phase: 'stopped' }

/** Connects to all registered engines. A change of stored data refreshes the link of the affected engine. */
export function createFleet(fleetOptions: FleetOptions): RunningFleet {
  const { secrets, egress, createIngest, onCondition, local, log, timing } = fleetOptions
  const linkTiming = { ...DEFAULT_TIMING, ...timing }
  const links = new Map<string, EngineLink>()
  let state: FleetState = { phase: 'idle' }

  /** Creates links to new engines, drops links to deleted engines, and refreshes the link of `changedId`, or all links. */
  async function updateLinks(
    database: Database,
    ingest: Ingest,
    changedId: string | undefined,
  ): Promise<void> {
    const rows = await database.system('follow engines', tx =>
      tx.select({ engine_id: engine.engine_id }).from(engine),
    )
    if (state.phase === 'stopped') return

    const registeredIds = new Set(rows.map(({ engine_id }) => engine_id))
    for (const engine_id of registeredIds) {
      if (links.has(engine_id)) continue
      const options = { engine_id, database, secrets, egress, ingest, onCondition, log, timing: linkTiming }
      links.set(engine_id, createEngineLink(options))
    }

    for (const [engine_id, link] of links) {
      if (registeredIds.has(engine_id)) continue
      links.delete(engine_id)
      // The link ends when it finds that its record is deleted.
      link.refresh()
    }

    if (changedId === undefined) for (const link of links.values()) link.refresh()
    else links.get(changedId)?.refresh()
  }

  return {
    getDriftReport: engine_id => links.get(engine_id)?.getDriftReport() ?? { checked_at: null, drift: [] },

    reconcile: async engine_id => links.get(engine_id)?.reconcile(),

    async repair(engine_id) {
      const link = links.get(engine_id)
      if (!link)
        throw new EyrieError(
          'unavailable',
          'the management service has not connected to the engine yet: try again in a few seconds',
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

      // Called at the start and after each lost connection, when changes of any engine may have been missed.
      const handleListening = () => handleChange()
      state = {
        phase: 'running',
        stopListening: database.listen(FLEET_CHANNEL, handleChange, handleListening),
      }
    },

    listOutages: () =>
      [...links.values()]
        .flatMap(link => link.getOutage() ?? [])
        .sort((a, b) => a.engine_name.localeCompare(b.engine_name)),

    async stop() {
      const stopListening = state.phase === 'running' ? state.stopListening : undefined
      state = { phase: 'stopped' }
      const stoppedLinks = [...links.values()].map(link => link.stop())
      await Promise.all([stopListening?.(), ...stoppedLinks])
    },
  }
}
