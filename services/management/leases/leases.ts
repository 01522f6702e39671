import { type Log, sleep, unlessAborted } from '@eyrie/kit'
import type { Database, Transaction } from '../db/database.ts'
import { logUnlessUnavailable } from '../db/database-errors.ts'
import {
  BACKGROUND,
  type HeldLeases,
  holdsLease,
  recordStoredUntil,
  releaseLeases,
  removeInstance,
  renewLeases,
} from './lease-store.ts'

const RENEWAL_MS = 1000
/** The name of these transactions in the audit log. */
const OPERATION = 'leases'

/** Called with the leases of this instance after a renewal. The next renewal waits for it. */
type RenewalListener = (held: HeldLeases, database: Database) => Promise<void>

/**
 * Divides the work among the management services (instances) on one database. Each engine is
 * followed by one instance, and one instance runs the background jobs. An instance holds a lease
 * for each of these tasks. When it ends, the others take over its leases.
 */
export interface Leases {
  readonly instance_id: string
  /**
   * Starts to claim leases, and returns a function that stops it. If several parts of the service
   * have started it, the last one to stop gives up the leases.
   */
  start(database: Database): () => Promise<void>
  /** Adds a listener. */
  onRenewal(listener: RenewalListener): void
  /** Renews at once, for example because an engine was registered. */
  renew(): void
  /** Gives up the leases of engines. The work on these engines must have ended. */
  release(database: Database, subjects: readonly string[]): Promise<void>
  /**
   * Records until when the output of engines is stored. `listDelays` returns how far it is behind
   * now, in ms by engine id.
   */
  recordStoredUntil(
    database: Database,
    listDelays: () => ReadonlyMap<string, number>,
  ): Promise<void>
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

/** The renewals that several parts of the service have started together. */
interface Renewals {
  /** How many of these parts have not stopped them yet. */
  starts: number
  stopping: AbortController
  ended: Promise<void>
}

export function createLeases({
  instance_id: instanceId,
  host_name: hostName,
  log,
}: LeasesOptions): Leases {
  const listeners: RenewalListener[] = []
  /** Open while this instance runs the background jobs. */
  const background = createGate()
  let renewals: Renewals | undefined
  /** The wait for the next renewal. Aborting it starts the renewal at once. */
  let pause = new AbortController()

  async function renewOnce(database: Database): Promise<void> {
    const held = await database.system(OPERATION, tx =>
      renewLeases(tx, { instance_id: instanceId, host_name: hostName }),
    )
    background.set(held.subjects.has(BACKGROUND))
    for (const listener of listeners) await listener(held, database)
  }

  /**
   * Renews until stopped. While the database is unreachable, this instance retains its leases,
   * because no other one can claim them.
   */
  async function renewPeriodically(database: Database, signal: AbortSignal): Promise<void> {
    const logFailure = logUnlessUnavailable(log, 'failed to renew leases')
    while (!signal.aborted) {
      // Created before the renewal, so that a request during the renewal leads to another one.
      pause = new AbortController()
      await renewOnce(database).catch(logFailure)
      await sleep(RENEWAL_MS, AbortSignal.any([signal, pause.signal]))
    }
    background.set(false)
    // If this fails, the other instances take over when the row of this one has expired.
    await database.system(OPERATION, tx => removeInstance(tx, instanceId)).catch(() => {})
  }

  function startRenewals(database: Database): Renewals {
    const stopping = new AbortController()
    return { starts: 0, stopping, ended: renewPeriodically(database, stopping.signal) }
  }

  return {
    instance_id: instanceId,

    start(database) {
      const current = renewals ?? startRenewals(database)
      renewals = current
      current.starts += 1

      let isStopped = false
      return async () => {
        if (isStopped) return
        isStopped = true
        current.starts -= 1
        if (current.starts > 0) return
        renewals = undefined
        current.stopping.abort()
        await current.ended
      }
    },

    onRenewal(listener) {
      listeners.push(listener)
    },
    renew: () => pause.abort(),

    async release(database, subjects) {
      if (subjects.length > 0) {
        await database.system(OPERATION, tx => releaseLeases(tx, instanceId, subjects))
      }
    },

    async recordStoredUntil(database, listDelays) {
      if (listDelays().size === 0) return
      await database.system(OPERATION, tx => recordStoredUntil(tx, instanceId, listDelays()))
    },

    waitForBackground: background.waitUntilOpen,
    runsBackground: background.isOpen,
  }
}

/** A condition that holds from time to time, and for which several callers can wait. */
interface Gate {
  isOpen(): boolean
  set(isOpenNow: boolean): void
  /** Rejects when the signal aborts. */
  waitUntilOpen(signal: AbortSignal): Promise<void>
}

function createGate(): Gate {
  let isOpen = false
  let opening = Promise.withResolvers<void>()

  return {
    isOpen: () => isOpen,

    set(isOpenNow) {
      if (isOpenNow) opening.resolve()
      else if (isOpen) opening = Promise.withResolvers()
      isOpen = isOpenNow
    },

    waitUntilOpen: signal => unlessAborted(opening.promise, signal),
  }
}

/**
 * Returns a database whose `system` transactions throw `LeaseLostError` unless this instance holds
 * the lease of `subject`.
 */
export function guardByLease(database: Database, instanceId: string, subject: string): Database {
  const guard =
    <T>(work: (tx: Transaction) => Promise<T>) =>
    async (tx: Transaction) => {
      if (!(await holdsLease(tx, instanceId, subject))) throw new LeaseLostError(subject)
      return work(tx)
    }
  return {
    ...database,
    system: (operation, work, config) => database.system(operation, guard(work), config),
  }
}
