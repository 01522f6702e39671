import type { Client } from '@eyrie/client'
import { EyrieError } from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import { Mutex } from 'async-mutex'
import type { Database } from '../../db/database.ts'
import type { Ingest, ReceivedMessage } from '../../events/ingest/ingest-port.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import {
  type ReconciliationOptions,
  type ReconciliationResult,
  reconcileEngine,
} from '../provisioning/reconcile-engine.ts'
import { refreshChannelStates, storeOrRefreshChannelStates } from '../status/channel-states.ts'
import type { EngineStateStore } from '../status/engine-state-store.ts'
import type { ChannelRecovery } from './channel-recovery.ts'
import { findFailedChannels } from './failed-channels.ts'
import { createOutputFollower } from './output-follower.ts'

/**
 * The work on one connected engine: applies the stored configuration to it (reconciliation) and
 * stores its output. The engine keeps its output in a log. Each message in the log has a
 * sequence number, `seq`.
 */
export interface EngineSession {
  /**
   * Consumes the engine's output until the connection ends or an operation fails.
   * Rejects with the reason.
   */
  run(): Promise<never>
  /**
   * Applies the stored configuration. Concurrent calls share one queued reconciliation. Never
   * rejects: a failure makes `run` reject.
   */
  reconcile(): Promise<void>
  /**
   * Applies the stored configuration and overwrites the changes that other clients
   * have made on the engine.
   */
  repair(): Promise<void>
  /**
   * Returns how far the stored output is behind the engine, in ms. Undefined while that is unknown,
   * for example until the messages of an outage are stored.
   */
  getOutputDelayMs(): number | undefined
  /** Restarts the failed channels that are configured for automatic recovery and are due. */
  recoverChannels(): Promise<void>
}

export interface EngineSessionOptions {
  engine_id: string
  engine: Client
  database: Database
  secrets: Secrets
  ingest: Ingest
  states: EngineStateStore
  recovery: ChannelRecovery
  log: Log
}

/**
 * Maximum number of attempts of a reconciliation. It starts over when another client changes the
 * engine while it runs.
 */
const MAX_RECONCILE_ATTEMPTS = 5

export function createEngineSession(options: EngineSessionOptions): EngineSession {
  const { engine_id: engineId, engine, database, ingest, states, recovery, log } = options
  /** Rejects when an operation fails whose result no caller awaits. That ends the session. */
  const failure = Promise.withResolvers<never>()
  /** The position in the output up to which it was stored before this session. */
  let position: Awaited<ReturnType<EngineStateStore['readPosition']>>
  const follower = createOutputFollower({ engine, onHello: handleHello, consume: handleMessages })
  /** Resolves to the id of the engine's output log when the engine has sent it. */
  const outputLogId = Promise.withResolvers<string>()
  // Only one reconciliation or batch of messages is handled at a time. A reconciliation stores the
  // ids of new channels, by which their messages are recognized.
  const mutex = new Mutex()
  /** A reconciliation that waits for the mutex. Later calls of `reconcile` share it. */
  let queuedReconcile: Promise<void> | undefined

  async function reconcileNow(
    overrides: Partial<ReconciliationOptions>,
  ): Promise<ReconciliationResult> {
    const logId = await outputLogId.promise
    return reconcileWithRetry({ ...options, log_id: logId, repair: false, ...overrides })
  }

  async function reconcileAndReport({ repair }: { repair: boolean }): Promise<void> {
    const { drift, hash } = await reconcileNow({ repair })
    await states.recordConfigurationHash(hash)
    await states.recordDrift(drift)
  }

  /**
   * Handles the first message of a connection, which contains the id of the engine's output log.
   */
  async function handleHello(logId: string): Promise<void> {
    outputLogId.resolve(logId)
    await mutex.runExclusive(() => reconcileAndReport({ repair: false }))
    // A new log does not contain the state changes of the previous one.
    if (position?.log_id !== logId) await refreshChannelStates(database, engineId, engine)
  }

  /** Stores messages. Resolves to the last sequence number that the engine may discard. */
  function handleMessages(messages: ReceivedMessage[]): Promise<number> {
    return mutex.runExclusive(async () => {
      const hasFailedChannel = await storeOrRefreshChannelStates(options, messages)
      const seq = await ingest.consume(engineId, messages)
      // A gap reports dropped messages, which may have contained changes of state.
      const hasGap = messages.some(({ kind }) => kind === 'gap')
      if (hasGap) await refreshChannelStates(database, engineId, engine)
      if (hasFailedChannel) recoverChannels().catch(failure.reject)
      return seq
    })
  }

  async function recoverChannels(): Promise<void> {
    const failedChannels = await findFailedChannels(database, engineId)
    const channels = recovery.claimRestarts(failedChannels)
    if (channels.length === 0) return

    log.info({ channels }, 'restarting failed channels')
    await mutex.runExclusive(async () => {
      // The first reconciliation stops the channels, and the second one starts them again.
      await reconcileNow({ excludedChannels: new Set(channels) })
      await reconcileAndReport({ repair: false })
    })
  }

  return {
    recoverChannels,
    getOutputDelayMs: follower.getDelayMs,

    reconcile() {
      queuedReconcile ??= mutex.runExclusive(() => {
        queuedReconcile = undefined
        return reconcileAndReport({ repair: false })
      })
      return queuedReconcile.catch(failure.reject)
    },

    repair: () => mutex.runExclusive(() => reconcileAndReport({ repair: true })),

    async run() {
      position = await states.readPosition()
      return Promise.race([follower.follow(position), failure.promise])
    },
  }
}

async function reconcileWithRetry(options: ReconciliationOptions): Promise<ReconciliationResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await reconcileEngine(options)
    } catch (error) {
      const isConflict = error instanceof EyrieError && error.code === 'precondition'
      if (!isConflict || attempt === MAX_RECONCILE_ATTEMPTS) throw error
    }
  }
}
