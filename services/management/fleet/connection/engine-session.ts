import type { Client } from '@eyrie/client'
import { EyrieError } from '@eyrie/contract'
import type { Drift } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import { Mutex } from 'async-mutex'
import type { Database } from '../../db/database.ts'
import type { Ingest, ReceivedMessage } from '../../events/ingest/ingest-port.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { findFailedChannels } from '../provisioning/provision-channels.ts'
import {
  type Reconciliation,
  type ReconciliationResult,
  reconcileEngine,
} from '../provisioning/reconcile-engine.ts'
import { refreshChannelStates, storeChannelStates } from '../status/channel-states.ts'
import type { EngineStateStore } from '../status/engine-state-store.ts'
import type { ChannelRecovery } from './channel-recovery.ts'
import { followOutput } from './output-follower.ts'

export interface EngineSessionOptions {
  engine_id: string
  engine: Client
  database: Database
  secrets: Secrets
  ingest: Ingest
  states: EngineStateStore
  recovery: ChannelRecovery
  log: Log
  onReconciled(drift: Drift[]): void
}

/** The work on one connected engine: reconciles its configuration and stores its output. */
export interface EngineSession {
  /** Runs until the connection ends or work on the engine fails; rejects with the reason. */
  run(): Promise<never>
  /** Applies the stored configuration. Calls that wait for the same turn share it. Never rejects: a failure ends `run`. */
  reconcile(): Promise<void>
  /** Reconciles and overwrites changes made on the engine. */
  repair(): Promise<void>
  /** Restarts failed channels that are configured for automatic recovery and are due. */
  recoverChannels(): Promise<void>
}

/** Other clients may change the engine during a reconciliation, which then starts over. */
const RECONCILE_ATTEMPTS = 5

export function createEngineSession(options: EngineSessionOptions): EngineSession {
  const { engine_id, engine, database, ingest, states, recovery, log, onReconciled } = options
  const failed = Promise.withResolvers<never>()
  const outputLogId = Promise.withResolvers<string>()
  // Messages wait for a reconciliation in progress, so that the messages of a new channel find its record.
  const mutex = new Mutex()
  let queuedReconcile: Promise<void> | undefined

  async function reconcileWithRetry(overrides: Partial<Reconciliation>): Promise<ReconciliationResult> {
    const log_id = await outputLogId.promise
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await reconcileEngine({ ...options, log_id, repair: false, ...overrides })
      } catch (error) {
        const isConflict = error instanceof EyrieError && error.code === 'precondition'
        if (!isConflict || attempt === RECONCILE_ATTEMPTS) throw error
      }
    }
  }

  async function reconcileAndReport({ repair }: { repair: boolean }): Promise<void> {
    const { drift, hash } = await reconcileWithRetry({ repair })
    await states.recordConfigurationHash(hash)
    onReconciled(drift)
  }

  async function handleHello(log_id: string, lastLogId: string | undefined): Promise<void> {
    outputLogId.resolve(log_id)
    await mutex.runExclusive(() => reconcileAndReport({ repair: false }))
    if (lastLogId !== log_id) await refreshChannelStates(database, engine_id, engine)
  }

  function handleMessages(messages: ReceivedMessage[]): Promise<number> {
    return mutex.runExclusive(async () => {
      const hasFailedChannel = await storeChannelStates(database, engine_id, messages)
      const seq = await ingest.consume(engine_id, messages)
      // The dropped messages may have included state changes.
      if (messages.some(({ kind }) => kind === 'gap')) await refreshChannelStates(database, engine_id, engine)
      if (hasFailedChannel) recoverChannels().catch(failed.reject)
      return seq
    })
  }

  async function recoverChannels(): Promise<void> {
    const channels = await findFailedChannels(database, engine_id)
    const due = recovery.claimDue(channels, Date.now())
    if (due.length === 0) return
    log.info({ channels: due }, 'restarting failed channels')
    await mutex.runExclusive(async () => {
      await reconcileWithRetry({ excludedChannels: new Set(due) })
      await reconcileAndReport({ repair: false })
    })
  }

  return {
    recoverChannels,
    reconcile() {
      queuedReconcile ??= mutex.runExclusive(() => {
        queuedReconcile = undefined
        return reconcileAndReport({ repair: false })
      })
      return queuedReconcile.catch(failed.reject)
    },
    repair: () => mutex.runExclusive(() => reconcileAndReport({ repair: true })),
    async run() {
      const position = await states.readPosition()
      const following = followOutput({
        engine,
        position,
        onHello: log_id => handleHello(log_id, position?.log_id),
        consume: handleMessages,
      })
      return Promise.race([following, failed.promise])
    },
  }
}
