import type { Client } from '@eyrie/client'
import { EyrieError } from '@eyrie/contract'
import type { Drift } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import { Mutex } from 'async-mutex'
import type { Database } from '../../db/database.ts'
import type { Ingest } from '../../events/ingest/ingest-port.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { failedChannels } from '../provisioning/provision-channels.ts'
import { type Reconciled, type Reconciliation, reconcile } from '../provisioning/reconcile.ts'
import { askStates, hearStates } from '../status/channel-states.ts'
import type { EngineStates } from '../status/engine-states.ts'
import type { Recovery } from './channel-recovery.ts'
import { follow } from './output-follower.ts'

export interface SessionOptions {
  engine_id: string
  engine: Client
  database: Database
  secrets: Secrets
  ingest: Ingest
  states: EngineStates
  recovery: Recovery
  log: Log
  onReconciled(drift: Drift[]): void
}

/** A connection to an engine that has been found to be one. */
export interface Session {
  /** Follows the engine for as long as the connection lasts; rejects with what has ended it. */
  run(): Promise<never>
  /** Makes the engine what is stored by now. */
  wake(): void
  /** The same, and resolves when that has been done. */
  look(): Promise<void>
  repair(): Promise<void>
  /** Starts channels again that have failed, where they want it and their turn has come. */
  recover(): Promise<void>
}

/** Somebody else is at work on the engine: what he has done is looked at anew, so many times. */
const TRIES = 5

export function createSession(options: SessionOptions): Session {
  const { engine_id, engine, database, ingest, states, recovery, log, onReconciled } = options
  const failed = Promise.withResolvers<never>()
  const hello = Promise.withResolvers<string>()
  // Messages wait for a reconciliation in progress, so that the messages of a new channel find its record.
  const mutex = new Mutex()
  /** A provisioning whose turn has not come yet. */
  let queued: Promise<void> | undefined

  async function settle(special: Partial<Reconciliation> = {}): Promise<Reconciled> {
    const log_id = await hello.promise
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await reconcile({ ...options, log_id, repair: false, ...special })
      } catch (error) {
        if (attempt < TRIES && error instanceof EyrieError && error.code === 'precondition') continue
        throw error
      }
    }
  }

  async function provision(special: Partial<Reconciliation> = {}): Promise<void> {
    const { drift, hash } = await settle(special)
    await states.configured(hash)
    onReconciled(drift)
  }

  const look = (): Promise<void> => {
    queued ??= mutex.runExclusive(() => {
      queued = undefined
      return provision()
    })
    return queued.catch(failed.reject)
  }
  const wake = () => void look()

  async function recover(): Promise<void> {
    const channels = await failedChannels(database, engine_id)
    const due = recovery.due(channels, Date.now())
    if (due.length === 0) return
    log.info({ channels: due }, 'starting failed channels again')
    await mutex.runExclusive(async () => {
      await settle({ resting: new Set(due) })
      await provision()
    })
  }

  return {
    wake,
    look,
    recover,
    repair: () => mutex.runExclusive(() => provision({ repair: true })),
    async run() {
      const position = await states.position()
      const following = follow({
        engine,
        position,
        async onHello(log_id) {
          hello.resolve(log_id)
          await mutex.runExclusive(() => provision())
          if (position?.log_id !== log_id) await askStates(database, engine_id, engine)
        },
        take: messages =>
          mutex.runExclusive(async () => {
            const hasFailed = await hearStates(database, engine_id, messages)
            const seq = await ingest.consume(engine_id, messages)
            if (messages.some(({ kind }) => kind === 'gap')) await askStates(database, engine_id, engine)
            if (hasFailed) recover().catch(failed.reject)
            return seq
          }),
      })
      return Promise.race([following, failed.promise])
    },
  }
}
