import type { EngineOutage } from '@eyrie/contract'
import type { Egress, Log } from '@eyrie/kit'
import type { Database } from '../db/database.ts'
import { logUnlessUnavailable } from '../db/database-errors.ts'
import { FLEET_CHANNEL } from '../db/schema/index.ts'
import type { Ingest } from '../events/ingest/ingest-port.ts'
import type { HeldLeases } from '../leases/lease-store.ts'
import { guardByLease, LeaseLostError, type Leases } from '../leases/leases.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { createEngineLink, type EngineLink, type FleetTiming } from './connection/engine-link.ts'
import type { ConditionListener } from './connection/engine-monitors.ts'
import { type LocalEngine, registerLocalEngine } from './registry/local-engine.ts'
import { requestFromFollower, serveRequests } from './requests/engine-requests.ts'
import { type DriftReport, readDriftReport } from './status/drift-report.ts'
import { readReportedStates } from './status/reported-state.ts'

/**
 * The engines that are registered in the database, as the API uses them. One management service is
 * connected to each of them and keeps it configured as stored.
 */
export interface Fleet {
  readDriftReport(database: Database, engineId: string): Promise<DriftReport>
  /** Applies the stored configuration to an engine now, if the engine is connected. */
  reconcile(database: Database, engineId: string): Promise<void>
  /**
   * Applies the stored configuration to an engine and overwrites the changes that other clients
   * have made on it. Rejects with `EyrieError` (`unavailable`) while the engine is disconnected.
   */
  repair(database: Database, engineId: string): Promise<void>
}

export interface RunningFleet extends Fleet {
  /**
   * Connects to the engines registered in this database that no other management service follows.
   */
  start(database: Database): void
  /**
   * Returns the engines that cannot be used, sorted by name, including engines that
   * other services follow.
   */
  listOutages(): EngineOutage[]
  /** Returns a message for each engine that this service follows and whose events are lost. */
  alarms(): string[]
  stop(): Promise<void>
}

export interface FleetOptions {
  secrets: Secrets
  /** Opens the connections to engines. */
  egress: Egress
  createIngest(database: Database): Ingest
  /** Decides which engines this management service follows. */
  leases: Leases
  /**
   * Called every few seconds with the condition of each connected engine, also of engines that
   * other services follow.
   */
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
  | { phase: 'running'; stops: (() => Promise<void>)[] }
  | { phase: 'stopped' }

/**
 * Creates the fleet. It follows (stays connected to) the registered engines for which this service
 * holds leases. The connection to an engine is its link. When stored data of an engine changes,
 * its link is refreshed.
 */
export function createFleet(fleetOptions: FleetOptions): RunningFleet {
  const { secrets, egress, createIngest, leases, onCondition, local, log, timing } = fleetOptions
  const linkTiming = { ...DEFAULT_TIMING, ...timing }
  const links = new Map<string, EngineLink>()
  /** The outages of engines that other services follow. */
  let otherOutages: EngineOutage[] = []
  /**
   * When the last condition of an engine that another service follows was received:
   * epoch ms by engine id.
   */
  const otherConditionTimes = new Map<string, number>()
  let state: FleetState = { phase: 'idle' }
  const isRunning = () => state.phase === 'running'

  /** Follows the engines for which this service holds the lease, and stops following the others. */
  async function applyLeases(
    { subjects, excess, engines }: HeldLeases,
    database: Database,
  ): Promise<void> {
    if (!isRunning()) return
    await leases.recordStoredUntil(database, listOutputDelays)
    const excessIds = new Set(excess)
    const followedIds = new Set([...engines].filter(id => subjects.has(id) && !excessIds.has(id)))

    const stopping: Promise<void>[] = []
    for (const [engineId, link] of links) {
      if (followedIds.has(engineId)) continue
      links.delete(engineId)
      // The link of a deleted engine ends when it finds that its record is deleted.
      if (engines.has(engineId)) stopping.push(link.stop())
      else link.refresh()
    }
    // A lease is released only when this service has stopped following the engine.
    await Promise.all(stopping)
    await leases.release(database, excess)
    if (!isRunning()) return

    for (const engineId of followedIds) {
      if (!links.has(engineId)) links.set(engineId, createLink(database, engineId))
    }
    const otherIds = [...engines].filter(engineId => !links.has(engineId))
    await readOtherEngines(database, otherIds)
  }

  /** Returns how far the stored output of engines is behind, in ms by engine id, where known. */
  function listOutputDelays(): Map<string, number> {
    const delays = new Map<string, number>()
    for (const [engineId, link] of links) {
      const delayMs = link.getOutputDelayMs()
      if (delayMs !== undefined) delays.set(engineId, delayMs)
    }
    return delays
  }

  function createLink(database: Database, engineId: string): EngineLink {
    const guarded = guardByLease(database, leases.instance_id, engineId)
    const ingest = createIngest(guarded)
    const options = {
      engine_id: engineId,
      database,
      guarded,
      secrets,
      egress,
      ingest,
      onCondition,
      log,
    }
    return createEngineLink({ ...options, timing: linkTiming })
  }

  /** Reads what other services have stored about the engines that they follow. */
  async function readOtherEngines(database: Database, engineIds: string[]): Promise<void> {
    const states = await readReportedStates(database, engineIds, linkTiming.outageGraceMs)
    otherOutages = states.flatMap(({ outage }) => outage ?? [])
    for (const { engine_id: engineId, reported } of states) {
      const isNew = reported && reported.receivedMs !== otherConditionTimes.get(engineId)
      if (!isNew) continue
      otherConditionTimes.set(engineId, reported.receivedMs)
      onCondition(engineId, reported)
    }
  }

  /** Refreshes the link of an engine, or all links, and serves the requests of other services. */
  async function handleChange(database: Database, engineId: string | undefined): Promise<void> {
    if (engineId !== undefined && !links.has(engineId)) leases.renew()
    for (const [id, link] of links) {
      if (engineId !== undefined && engineId !== id) continue
      link.refresh()
      await serveRequests(guardByLease(database, leases.instance_id, id), id, link)
    }
  }

  return {
    readDriftReport,

    async reconcile(database, engineId) {
      const link = links.get(engineId)
      if (link) await link.reconcile()
      else await requestFromFollower(database, engineId, 'reconcile')
    },

    async repair(database, engineId) {
      const link = links.get(engineId)
      if (link) await link.repair()
      else await requestFromFollower(database, engineId, 'repair')
    },

    start(database) {
      const onChange = (engineId?: string) => {
        const logFailure = logUnlessUnavailable(log, 'failed to apply change of engine', {
          engine_id: engineId,
        })
        database
          .retryUntilAvailable(() => handleChange(database, engineId))
          .catch(error => {
            if (!(error instanceof LeaseLostError)) logFailure(error)
          })
      }

      if (local) {
        database
          .retryUntilAvailable(() => registerLocalEngine(database, secrets, local))
          .catch(logUnlessUnavailable(log, 'failed to register local engine'))
      }

      leases.onRenewal(applyLeases)
      // Called at the start and after each lost connection, when changes of any engine
      // may have been missed.
      const onListening = () => onChange()
      const stops = [database.listen(FLEET_CHANNEL, onChange, onListening), leases.start(database)]
      state = { phase: 'running', stops }
    },

    listOutages() {
      const ownOutages = [...links.values()].flatMap(link => link.getOutage() ?? [])
      return [...otherOutages, ...ownOutages].sort((a, b) =>
        a.engine_name.localeCompare(b.engine_name),
      )
    },

    alarms: () => [...links.values()].flatMap(link => link.getAlarm() ?? []),

    async stop() {
      const stops = state.phase === 'running' ? state.stops : []
      state = { phase: 'stopped' }
      await Promise.all([...links.values()].map(link => link.stop()))
      // This stops the leases. It comes last, because other services then begin to follow the
      // engines.
      await Promise.all(stops.map(stop => stop()))
    },
  }
}
