import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import type { Database, Transaction } from '../db/database.ts'
import { logUnlessUnavailable } from '../db/database-errors.ts'
import {
  BACKGROUND,
  type HeldLeases,
  holdsLease,
  releaseLeases,
  removeInstance,
  renewLeases,
} from './lease-store.ts'

const RENEWAL_MS = 1000
/** The name of these transactions in the audit log. */
const OPERATION = 'leases'

/**
 * What this instance does among all management services on one database. Each engine is followed by one instance, and one
 * instance runs the background jobs. When an instance ends, the others take its work over.
 */
export interface Leases {
  readonly instance_id: string
  /** Starts to claim leases. Several parts of the service may do so. Returns a function that ends it for this part. */
  start(database: Database): () => Promise<void>
  /** Calls a listener after every renewal. Renewals wait for it. */
  onRenewal(listener: (held: HeldLeases, database: Database) => Promise<void>): void
  /** Renews at once, for example because an engine was registered. */
  renew(): void
  /** Gives up the leases of engines, after the work has ended. */
  release(database: Database, subjects: readonly string[]): Promise<void>
  /** Resolves when this instance runs the background jobs. Rejects when the signal aborts. */
  waitForBackground(signal: AbortSignal): Promise<void>
  /** Whether this instance runs the background jobs. */
  runsBackground(): boolean
}

/** A transaction was rejected because another instance does this work now. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'

  constructor(subject: string) {
    super(`another management service has taken over ${subject}`)
  }
}

export interface LeasesOptions {
  instance_id: string
  host_name: string
  log: Log
}

export function createLeases({ instance_id, host_name, log }: LeasesOptions): Leases {
  const listeners: ((held: HeldLeases, database: Database) => Promise<void>)[] = []
  let users = 0
  let stopping = new AbortController()
  let running: Promise<void> | undefined
  let requested = Promise.withResolvers<void>()
  let background = Promise.withResolvers<void>()
  let runsBackground = false

  async function renewOnce(database: Database): Promise<void> {
    const held = await database.system(OPERATION, tx => renewLeases(tx, { instance_id, host_name }))
    setBackground(held.subjects.has(BACKGROUND))
    for (const listener of listeners) await listener(held, database)
  }

  function setBackground(isHeld: boolean): void {
    if (isHeld && !runsBackground) background.resolve()
    if (!isHeld && runsBackground) background = Promise.withResolvers()
    runsBackground = isHeld
  }

  /** Renews until stopped. While the database is unreachable, leases remain: no other instance can claim them either. */
  async function renewPeriodically(database: Database, signal: AbortSignal): Promise<void> {
    const logFailure = logUnlessUnavailable(log, 'failed to renew leases')
    while (!signal.aborted) {
      requested = Promise.withResolvers()
      await renewOnce(database).catch(logFailure)
      const timer = new AbortController()
      const delay = wait(RENEWAL_MS, undefined, { signal: AbortSignal.any([signal, timer.signal]) })
      await Promise.race([delay.catch(() => {}), requested.promise])
      timer.abort()
    }
    setBackground(false)
    await database.system(OPERATION, tx => removeInstance(tx, instance_id)).catch(() => {})
  }

  return {
    instance_id,

    start(database) {
      users += 1
      if (users === 1) {
        stopping = new AbortController()
        running = renewPeriodically(database, stopping.signal)
      }
      let isStarted = true
      return async () => {
        if (!isStarted) return
        isStarted = false
        users -= 1
        if (users > 0) return
        stopping.abort()
        await running
      }
    },

    onRenewal: listener => void listeners.push(listener),
    renew: () => requested.resolve(),

    async release(database, subjects) {
      if (subjects.length > 0)
        await database.system(OPERATION, tx => releaseLeases(tx, instance_id, subjects))
    },

    waitForBackground: signal =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const abort = () => reject(signal.reason)
        signal.addEventListener('abort', abort, { once: true })
        background.promise.then(() => {
          signal.removeEventListener('abort', abort)
          resolve()
        })
      }),

    runsBackground: () => runsBackground,
  }
}

/**
 * Returns the database with transactions of the appliance that happen only while this instance holds a lease. They throw
 * `LeaseLostError` otherwise.
 */
export function guardByLease(database: Database, instance_id: string, subject: string): Database {
  const guard =
    <T>(work: (tx: Transaction) => Promise<T>) =>
    async (tx: Transaction) => {
      if (!(await holdsLease(tx, instance_id, subject))) throw new LeaseLostError(subject)
      return work(tx)
    }
  return {
    ...database,
    system: (operation, work, config) => database.system(operation, guard(work), config),
  }
}
