import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@eyrie/client'
import { type EngineOutage, EyrieError } from '@eyrie/contract'
import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import {
  type Backoff,
  type Egress,
  findServerAddress,
  type Log,
  sleep,
  unlessAborted,
  waitForServer,
} from '@eyrie/kit'
import type { Database } from '../../db/database.ts'
import { DatabaseUnavailableError, logUnlessUnavailable } from '../../db/database-errors.ts'
import type { Ingest } from '../../events/ingest/ingest-port.ts'
import { LeaseLostError } from '../../leases/leases.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import {
  type EngineRecord,
  hasSameConnection,
  readEngineRecord,
  retryDelayMs,
} from '../registry/engine-record.ts'
import { createEngineTransport } from '../registry/engine-transport.ts'
import { readEngineFacts } from '../status/engine-facts.ts'
import { type EngineFailure, isUnreachable, toEngineFailure } from '../status/engine-failure.ts'
import { createOutageTracker } from '../status/engine-outage.ts'
import { createEngineStateStore } from '../status/engine-state-store.ts'
import { createChannelRecovery } from './channel-recovery.ts'
import {
  type ConditionListener,
  type MonitorTiming,
  maintainEngine,
  watchCondition,
  watchConfiguration,
} from './engine-monitors.ts'
import { createEngineSession, type EngineSession } from './engine-session.ts'
import { removeConsumer } from './output-follower.ts'

/**
 * Keeps one registered engine connected until the engine is deleted or the link is stopped. While
 * the engine is connected, the link reconciles it, which means that it applies the stored
 * configuration to the engine.
 */
export interface EngineLink {
  /**
   * Rereads the stored record: reconnects if the connection settings have changed,
   * otherwise reconciles.
   */
  refresh(): void
  /** Returns why the engine cannot be used, after it could not be used for a few seconds. */
  getOutage(): EngineOutage | undefined
  /** Returns a message for the operator while nothing of the engine's output can be stored. */
  getAlarm(): string | undefined
  /** As `EngineSession.getOutputDelayMs`. Undefined while the engine is disconnected. */
  getOutputDelayMs(): number | undefined
  /**
   * Reconciles the engine. Resolves after at most 5 s, or at once while the engine is disconnected.
   */
  reconcile(): Promise<void>
  /**
   * Reconciles the engine and overwrites the changes that other clients have made on it. Rejects
   * with `EyrieError` (`unavailable`) while the engine is disconnected.
   */
  repair(): Promise<void>
  stop(): Promise<void>
}

export interface FleetTiming extends MonitorTiming {
  /** Delay between two attempts to restart a failed channel. */
  recovery: Backoff
  /** An engine that is disconnected for a shorter time is not reported. */
  outageGraceMs: number
}

export interface EngineLinkOptions {
  engine_id: string
  database: Database
  /**
   * The database while this service may follow the engine: its transactions throw
   * `LeaseLostError` afterwards.
   */
  guarded: Database
  secrets: Secrets
  /** Opens the connections to the engine. */
  egress: Egress
  ingest: Ingest
  onCondition: ConditionListener
  log: Log
  timing: FleetTiming
}

type LinkState =
  | { phase: 'connecting'; connection: AbortController }
  | { phase: 'connected'; connection: AbortController; session: EngineSession }
  /** Aborting `backoff` starts the next attempt at once. */
  | { phase: 'disconnected'; backoff: AbortController }

/** Maximum time for which `reconcile` waits. */
const RECONCILE_TIMEOUT_MS = 5000
const DATABASE_RETRY_MS = 1000

/**
 * The reason for which a connection is aborted when the engine's connection settings have changed.
 */
class ConnectionSettingsChanged extends Error {}

export function createEngineLink(options: EngineLinkOptions): EngineLink {
  const { engine_id: engineId, database, guarded, secrets, log, timing } = options
  const states = createEngineStateStore(guarded, engineId)
  const recovery = createChannelRecovery(timing.recovery)
  const outage = createOutageTracker(timing.outageGraceMs)
  const transport = createEngineTransport(options.egress)
  const stopping = new AbortController()
  const stopped = once(stopping.signal, 'abort')

  let state: LinkState = { phase: 'connecting', connection: new AbortController() }
  /** The stored settings of the engine. Undefined until they are read for the first time. */
  let record: EngineRecord | undefined
  let lastFailure: EngineFailure = {
    status: ENGINE_STATUS.unknown,
    reason: 'no connection has been attempted yet',
  }

  const logFields = () => ({ engine: record?.name, url: record?.address.url, engine_id: engineId })

  /**
   * Connects to the engine and works on it until an error or an abort ends the connection.
   * Resolves to that error.
   */
  async function runConnection(
    { address }: EngineRecord,
    connection: AbortController,
  ): Promise<{ error: unknown; wasConnected: boolean }> {
    const signal = AbortSignal.any([connection.signal, stopping.signal])
    const engine = createClient({ ...address, signal, transport })
    let session: EngineSession | undefined
    try {
      const facts = await readEngineFacts(engine, address, options.egress)
      // Before the status is stored, so that no outage is reported of an engine that is online.
      outage.recordConnected()
      await states.recordConnected(facts)
      log.info({ ...logFields(), version: facts.about.version }, 'engine connected')

      session = createEngineSession({
        ...options,
        database: guarded,
        engine,
        states,
        recovery,
        log: log.child(logFields()),
      })
      state = { phase: 'connected', connection, session }

      // Each of these tasks runs until it rejects: the first error ends the connection.
      const monitored = { engine, states, session, timing, signal }
      const tasks = Promise.race([
        maintainEngine(monitored),
        watchConfiguration(monitored),
        watchCondition(monitored, async reported => {
          const extended = { ...reported, areEventsLost: options.ingest.areEventsLost(engineId) }
          options.onCondition(engineId, extended)
          await states.recordCondition(extended)
        }),
        session.run(),
      ])
      return await unlessAborted(tasks, signal)
    } catch (error) {
      return { error, wasConnected: session !== undefined }
    } finally {
      connection.abort(new EyrieError('unavailable', 'the connection to the engine has ended'))
    }
  }

  /** Connects again and again. Resolves once the engine is deleted or the link is stopped. */
  async function followEngine(): Promise<void> {
    let consecutiveFailures = 0
    while (!stopping.signal.aborted) {
      // Assigned before the record is read, so that `refresh` can abort this attempt if the
      // record changes afterwards.
      const connection = new AbortController()
      state = { phase: 'connecting', connection }

      const previous = record
      record = await readEngineRecord(database, engineId, secrets)
      if (!record) {
        if (previous) await unregisterFrom(previous)
        return
      }

      // The stored status may be left from the time before this service was started.
      if (!previous) await states.recordDisconnected(ENGINE_STATUS.unknown, '')
      if (!hasSameConnection(previous, record)) consecutiveFailures = 0

      const { error, wasConnected } = await runConnection(record, connection)
      const backoff = new AbortController()
      state = { phase: 'disconnected', backoff }

      if (stopping.signal.aborted) return
      // The engine works, but its messages cannot be stored, or not by this service.
      if (error instanceof DatabaseUnavailableError || error instanceof LeaseLostError) throw error
      // Checks the reason of the signal, because `error` may be a failed request
      // that wraps this reason.
      if (connection.signal.reason instanceof ConnectionSettingsChanged) continue
      // The failure of a deleted engine cannot be recorded.
      if (!(await readEngineRecord(database, engineId, secrets))) continue

      consecutiveFailures = wasConnected ? 1 : consecutiveFailures + 1
      await recordFailure(error, wasConnected)
      const hasResponded = wasConnected || record.lastResponseAt !== null
      const delayMs = retryDelayMs(consecutiveFailures, record.retry, { hasResponded })
      // An engine that rejects requests, or that is not to be contacted any more, is not watched.
      const isWatched = Number.isFinite(delayMs) && (wasConnected || isUnreachable(error))
      await waitForServer({
        address: isWatched ? findServerAddress(record.address.url) : undefined,
        egress: options.egress,
        // It may be running again before it is probed.
        wasUnreachable: wasConnected && lastFailure.status === ENGINE_STATUS.offline,
        sleep: signal => sleepForRetry(delayMs, signal),
        signal: AbortSignal.any([backoff.signal, stopping.signal]),
      })
    }
  }

  /** Deletes this service's registration as a reader of the engine's output. */
  async function unregisterFrom({ address }: EngineRecord): Promise<void> {
    const { signal } = stopping
    await removeConsumer(createClient({ ...address, signal, transport }), signal)
  }

  async function recordFailure(error: unknown, wasConnected: boolean): Promise<void> {
    if (!(error instanceof EyrieError)) {
      log.error({ ...logFields(), err: error }, 'failed to follow engine')
    }
    const failure = toEngineFailure(error)
    outage.recordFailure(failure, wasConnected ? new Date() : (record?.lastResponseAt ?? null))
    await states.recordDisconnected(failure.status, failure.reason)

    // When the whole appliance stops, its engine disconnects too. That is no reason for a warning.
    if (stopping.signal.aborted) return

    const fields = { ...logFields(), reason: failure.reason }
    if (wasConnected) log.warn(fields, 'engine disconnected')
    else if (isNewFailure(failure, lastFailure)) log.warn(fields, 'failed to connect to engine')
    lastFailure = failure
  }

  async function followUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await followEngine()
      } catch (error) {
        // `followEngine` handles failures of the engine. This is a failure of the
        // database, or a defect.
        if (error instanceof LeaseLostError) {
          log.info(logFields(), 'another management service follows the engine')
        } else {
          logUnlessUnavailable(log, 'failed to follow engine', logFields())(error)
        }
        await sleep(DATABASE_RETRY_MS, stopping.signal)
        await Promise.race([database.waitForStorage(), stopped])
      }
    }
  }

  async function applyStoredRecord(): Promise<void> {
    const current = await readEngineRecord(database, engineId, secrets)
    if (!hasSameConnection(current, record)) {
      reconnect()
      return
    }
    record = current
    if (state.phase === 'connected') void state.session.reconcile()
  }

  /** Makes `followEngine` read the stored record again and connect with its settings. */
  function reconnect(): void {
    if (state.phase === 'disconnected') state.backoff.abort()
    else state.connection.abort(new ConnectionSettingsChanged())
  }

  const running = followUntilStopped()

  return {
    refresh() {
      database
        .retryUntilAvailable(applyStoredRecord)
        .catch(logUnlessUnavailable(log, 'failed to apply engine record', logFields()))
    },

    getOutage: () => record && outage.current({ engine_id: engineId, engine_name: record.name }),

    getAlarm() {
      if (!record || !options.ingest.areEventsLost(engineId)) return undefined
      return (
        `all events of engine ${record.name} are lost, because none of them can be stored: ` +
        'read why in the log of management, "skipped engine messages that cannot be stored", ' +
        'and correct the plugin, or report it with a support bundle if it concerns all channels'
      )
    },

    getOutputDelayMs: () =>
      state.phase === 'connected' ? state.session.getOutputDelayMs() : undefined,

    async reconcile() {
      if (state.phase !== 'connected') return
      await Promise.race([
        state.session.reconcile(),
        wait(RECONCILE_TIMEOUT_MS, undefined, { ref: false }),
      ])
    },

    async repair() {
      // Starts a connection attempt at once. The call fails anyway, because an
      // attempt may take long.
      if (state.phase === 'disconnected') state.backoff.abort()
      if (state.phase !== 'connected') {
        throw new EyrieError('unavailable', `the engine is not connected: ${lastFailure.reason}`)
      }
      await unlessAborted(state.session.repair(), state.connection.signal)
    },

    async stop() {
      stopping.abort()
      await running
    },
  }
}

/**
 * An offline engine is logged once, although its connection attempts may fail for varying reasons.
 */
const isNewFailure = (failure: EngineFailure, last: EngineFailure) =>
  failure.status !== last.status ||
  (failure.status !== ENGINE_STATUS.offline && failure.reason !== last.reason)

/** Resolves after `delayMs`, which may be infinite, or as soon as the signal is aborted. */
async function sleepForRetry(delayMs: number, signal: AbortSignal): Promise<void> {
  if (Number.isFinite(delayMs)) await sleep(delayMs, signal)
  else if (!signal.aborted) await once(signal, 'abort')
}
