import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@eyrie/client'
import { EyrieError } from '@eyrie/contract'
import { type Drift, ENGINE_STATUS } from '@eyrie/contract/management/index'
import type { Backoff, Log } from '@eyrie/kit'
import type { Database } from '../../db/database.ts'
import { logUnlessUnavailable } from '../../db/database-errors.ts'
import type { Ingest } from '../../events/ingest/ingest-port.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import {
  type EngineRecord,
  hasSameConnection,
  readEngineRecord,
  retryDelayMs,
} from '../registry/engine-record.ts'
import { readEngineFacts } from '../status/engine-facts.ts'
import { createEngineStateStore, type EngineFailure, toEngineFailure } from '../status/engine-state-store.ts'
import { createChannelRecovery } from './channel-recovery.ts'
import { type MonitorTiming, sampleLoad, watchConfiguration } from './engine-monitors.ts'
import { createEngineSession, type EngineSession } from './engine-session.ts'
import { removeConsumer } from './output-follower.ts'

export interface FleetTiming extends MonitorTiming {
  /** Delay between two attempts to restart a failing channel. */
  recovery: Backoff
}

export interface EngineLinkOptions {
  engine_id: string
  database: Database
  secrets: Secrets
  ingest: Ingest
  log: Log
  timing: FleetTiming
}

/** The differences between the stored configuration and the engine. */
export interface DriftReport {
  /** Time of the last reconciliation; null before the first. */
  checked_at: Date | null
  drift: Drift[]
}

/** Connects to one engine and follows it; reconnects until the engine is deleted or the link is stopped. */
export interface EngineLink {
  /** Reads the stored record again: reconnects if the connection settings have changed, otherwise reconciles. */
  refresh(): void
  getDriftReport(): DriftReport
  /** Reconciles the engine now; resolves after at most 5 s, and at once while the engine is disconnected. */
  reconcile(): Promise<void>
  /** Reconciles and overwrites changes made on the engine. Rejects with `EyrieError` (`unavailable`) while it is disconnected. */
  repair(): Promise<void>
  stop(): Promise<void>
}

type LinkState =
  | { phase: 'connecting'; connection: AbortController }
  | { phase: 'connected'; connection: AbortController; session: EngineSession }
  /** Waiting before the next attempt; aborting `backoff` starts it at once. */
  | { phase: 'disconnected'; backoff: AbortController }

/** Limits how long a request for the drift report waits for a reconciliation. */
const RECONCILE_TIMEOUT_MS = 5000
const DATABASE_RETRY_MS = 1000

/** Aborts a connection because the address, token, timeout or retry settings of the engine have changed. */
class ConnectionSettingsChanged extends Error {}

export function createEngineLink(options: EngineLinkOptions): EngineLink {
  const { engine_id, database, secrets, log, timing } = options
  const states = createEngineStateStore(database, engine_id)
  const recovery = createChannelRecovery(timing.recovery)
  const stopping = new AbortController()
  let state: LinkState = { phase: 'connecting', connection: new AbortController() }
  let record: EngineRecord | undefined
  let lastFailure: EngineFailure = {
    status: ENGINE_STATUS.unknown,
    reason: 'no connection has been attempted yet',
  }
  let driftReport: DriftReport = { checked_at: null, drift: [] }

  const logFields = () => ({ engine: record?.name, url: record?.address.url, engine_id })

  /** Stays connected until an error or an abort ends the connection; resolves to that error. */
  async function connect(
    { address }: EngineRecord,
    connection: AbortController,
  ): Promise<{ error: unknown; wasConnected: boolean }> {
    const signal = AbortSignal.any([connection.signal, stopping.signal])
    const engine = createClient({ ...address, signal })
    let session: EngineSession | undefined
    try {
      const facts = await readEngineFacts(engine, address)
      await states.recordConnected(facts)
      log.info({ ...logFields(), version: facts.about.version }, 'engine connected')
      session = createEngineSession({
        ...options,
        engine,
        states,
        recovery,
        log: log.child(logFields()),
        onReconciled(drift) {
          driftReport = { checked_at: new Date(), drift }
        },
      })
      state = { phase: 'connected', connection, session }
      const monitored = { engine, states, session, timing, signal }
      return await Promise.race([
        sampleLoad(monitored),
        watchConfiguration(monitored),
        session.run(),
        rejectOnAbort(signal),
      ])
    } catch (error) {
      return { error, wasConnected: session !== undefined }
    } finally {
      connection.abort(new EyrieError('unavailable', 'the connection to the engine has ended'))
    }
  }

  /** Connects and reconnects; resolves once the engine is deleted or the link is stopped. */
  async function followEngine(): Promise<void> {
    let failures = 0
    while (!stopping.signal.aborted) {
      // Set before the record is read: a change after that aborts this attempt.
      const connection = new AbortController()
      state = { phase: 'connecting', connection }
      const previous = record
      record = await readEngineRecord(database, engine_id, secrets)
      if (!record) {
        if (previous) await leaveEngine(previous)
        return
      }
      if (!previous) await states.recordDisconnected(ENGINE_STATUS.unknown, '')
      if (!hasSameConnection(previous, record)) failures = 0

      const { error, wasConnected } = await connect(record, connection)
      const backoff = new AbortController()
      state = { phase: 'disconnected', backoff }
      if (stopping.signal.aborted) return
      // `error` may be a failed request that wraps this reason.
      if (connection.signal.reason instanceof ConnectionSettingsChanged) continue
      // A deleted engine has no row in which the failure could be recorded.
      if (!(await readEngineRecord(database, engine_id, secrets))) continue

      failures = wasConnected ? 1 : failures + 1
      await recordFailure(error, wasConnected)
      await sleep(retryDelayMs(failures, record.retry), AbortSignal.any([backoff.signal, stopping.signal]))
    }
  }

  async function leaveEngine({ address }: EngineRecord): Promise<void> {
    const { signal } = stopping
    await removeConsumer(createClient({ ...address, signal }), signal)
  }

  async function recordFailure(error: unknown, wasConnected: boolean): Promise<void> {
    if (!(error instanceof EyrieError)) log.error({ ...logFields(), err: error }, 'failed to follow engine')
    const failure = toEngineFailure(error)
    await states.recordDisconnected(failure.status, failure.reason)
    // When the whole appliance stops, engines and management disconnect together: not worth a warning.
    if (stopping.signal.aborted) return
    const fields = { ...logFields(), reason: failure.reason }
    if (wasConnected) log.warn(fields, 'engine disconnected')
    else if (isNewFailure(failure, lastFailure)) log.warn(fields, 'failed to connect to engine')
    lastFailure = failure
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        return await followEngine()
      } catch (error) {
        // Failures of the engine are handled in `followEngine`: this is the database, or a defect.
        logUnlessUnavailable(log, 'failed to follow engine', logFields())(error)
        await sleep(DATABASE_RETRY_MS, stopping.signal)
      }
    }
  }

  async function applyRecord(): Promise<void> {
    const current = await readEngineRecord(database, engine_id, secrets)
    if (hasSameConnection(current, record)) {
      record = current
      if (state.phase === 'connected') void state.session.reconcile()
    } else if (state.phase === 'disconnected') state.backoff.abort()
    else state.connection.abort(new ConnectionSettingsChanged())
  }

  const running = run()
  return {
    refresh() {
      database
        .retryUntilAvailable(applyRecord)
        .catch(logUnlessUnavailable(log, 'failed to apply engine record', logFields()))
    },
    getDriftReport: () => driftReport,
    async reconcile() {
      if (state.phase !== 'connected') return
      await Promise.race([state.session.reconcile(), wait(RECONCILE_TIMEOUT_MS, undefined, { ref: false })])
    },
    async repair() {
      if (state.phase === 'disconnected') state.backoff.abort()
      if (state.phase !== 'connected')
        throw new EyrieError('unavailable', `the engine is not connected: ${lastFailure.reason}`)
      await Promise.race([state.session.repair(), rejectOnAbort(state.connection.signal)])
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** An offline engine is logged once, although its connection attempts fail for varying reasons. */
const isNewFailure = (failure: EngineFailure, last: EngineFailure) =>
  failure.status !== last.status ||
  (failure.status !== ENGINE_STATUS.offline && failure.reason !== last.reason)

/** Resolves after `ms`, or as soon as the signal is aborted. An infinite wait ends with the signal only. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (Number.isFinite(ms)) await wait(ms, undefined, { signal }).catch(() => {})
  else if (!signal.aborted) await once(signal, 'abort')
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
