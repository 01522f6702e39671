import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import { backoffDelayMs, sleep } from '@eyrie/kit'
import type { Sql } from 'postgres'
import type { Principal } from '../rights/principal.ts'
import { type ConnectionTarget, connect } from './connection.ts'
import { createConnectionPool } from './connection-pool.ts'
import {
  DatabaseUnavailableError,
  findCause,
  isConflict,
  isDiskFull,
  isStorageFailure,
  isUnreachable,
  withoutStatement,
} from './database-errors.ts'
import { prepareRole } from './role.ts'
import { type TransactionConfig, type Work, withTransaction } from './transaction.ts'
import {
  createSystemSettings,
  createUserSettings,
  type TransactionSettings,
} from './transaction-settings.ts'

export type { Transaction, Work } from './transaction.ts'

/**
 * Runs transactions on the database. A transaction commits when its `work` resolves and is rolled
 * back when `work` rejects; `operation` is its name in the audit log. Rejects with
 * `DatabaseUnavailableError`, an `EyrieError`, while the database is unreachable, and if it cannot
 * store because its disk is full.
 */
export interface Database {
  /**
   * Runs work with the rights of a user: row-level security hides rows that the user may not
   * access.
   */
  as<T>(
    principal: Principal,
    operation: string,
    work: Work<T>,
    config?: TransactionConfig,
  ): Promise<T>
  /** Runs work of the appliance itself, which may access every row. */
  system<T>(operation: string, work: Work<T>, config?: TransactionConfig): Promise<T>
  /**
   * Subscribes to a NOTIFY channel. `onListening` is called when listening starts and after each
   * reconnect; notifications that were sent while disconnected are lost. Returns a function that
   * ends the subscription.
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onListening: () => void,
  ): () => Promise<void>
  /**
   * Runs a statement that Postgres does not allow in a transaction, such as VACUUM,
   * until `signal` aborts.
   */
  maintain(statement: string, signal: AbortSignal): Promise<void>
  /** Runs work, and repeats it with back-off while the database is unavailable and not closed. */
  retryUntilAvailable<T>(work: () => Promise<T>): Promise<T>
  /**
   * Resolves at once, but after a transaction has failed because of a full disk, only when the
   * database can store again.
   */
  waitForStorage(): Promise<void>
  /** The role that transactions run as, or undefined if they run as the connecting user. */
  readonly role: string | undefined
  close(): Promise<void>
}

/** Is notified after each transaction whether the database is available. */
export interface AvailabilityListener {
  /** A transaction failed because the database is unreachable or cannot store. */
  unavailable(cause: Error): void
  available(): void
  /** Returns whether the log of the database server shows that its disk is full. */
  isDiskFull(): boolean
}

const POOL_SIZE = 10
/** Time limit for closing a connection that is still in use. */
const CLOSE_TIMEOUT_S = 1
const SESSION_PARAMETERS = {
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
  // With the policies of row-level security, planning most queries takes longer than running them:
  // reuse the first plan.
  plan_cache_mode: 'force_generic_plan',
}
/** Maximum number of times that a transaction is run if it conflicts with others. */
const MAX_ATTEMPTS = 5
const CONFLICT_BACKOFF = { initialMs: 10, maxMs: 200 }
const UNAVAILABLE_BACKOFF = { initialMs: 500, maxMs: 2_000 }
/** Interval at which a database that could not store is checked. */
const STORAGE_CHECK_MS = 1_000
/** Writes a megabyte, which disappears with the transaction. */
const WRITE_MEGABYTE = `
  create temporary table storage_check on commit drop as
  select repeat('x', 1000) from generate_series(1, 1000)`

/** Connects to a database that has been migrated to the current schema. */
export async function createDatabase(
  target: ConnectionTarget,
  availability?: AvailabilityListener,
): Promise<Database> {
  const role = await prepareRole(target)
  const parameters = { ...SESSION_PARAMETERS, ...(role && { role }) }
  const pool = createConnectionPool(POOL_SIZE, onLost => connect(target, parameters, onLost))
  /** Connections that are not in the pool. */
  const clients = new Set<Sql>()
  const closing = new AbortController()
  /** Resolves when the database can store again. Undefined while it can. */
  let storageRestored: Promise<void> | undefined

  /** Runs work in a transaction, which is repeated if it conflicts with a concurrent one. */
  async function run<T>(
    settings: TransactionSettings,
    work: Work<T>,
    config?: TransactionConfig,
  ): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        const result = await pool.use(({ sql, db, unpreparedDb }) =>
          withTransaction(sql, () => work(config?.isPlannedAnew ? unpreparedDb : db), {
            ...config,
            settings,
          }),
        )
        // A transaction that only reads shows nothing about a full disk.
        if (!storageRestored) availability?.available()
        return result
      } catch (error) {
        if (error instanceof EyrieError) throw error
        const cannotStore = isStorageFailure(error)
        if (cannotStore) storageRestored ??= checkStorageUntilRestored()
        if (cannotStore || isUnreachable(error)) throw reportUnavailable(findCause(error))

        const isLastAttempt = failures + 1 >= MAX_ATTEMPTS
        if (!isConflict(error) || isLastAttempt) throw withoutStatement(error)
        await wait(backoffDelayMs(failures, CONFLICT_BACKOFF))
      }
    }
  }

  /** Notifies the listener and returns the error for the caller. */
  function reportUnavailable(cause: Error): DatabaseUnavailableError {
    if (!closing.signal.aborted) availability?.unavailable(cause)
    const reason =
      isDiskFull(cause) || availability?.isDiskFull()
        ? 'the disk of the database is full and nothing was changed: free some space'
        : 'the database is unreachable: try again in a few seconds'
    return new DatabaseUnavailableError(reason, cause)
  }

  /** Resolves when the database can store again, or is closed. */
  async function checkStorageUntilRestored(): Promise<void> {
    do {
      await sleep(STORAGE_CHECK_MS, closing.signal)
    } while (!closing.signal.aborted && !(await canStore()))
    storageRestored = undefined
    if (!closing.signal.aborted) availability?.available()
  }

  async function canStore(): Promise<boolean> {
    try {
      await pool.use(({ sql }) => withTransaction(sql, () => sql.unsafe(WRITE_MEGABYTE)))
      return true
    } catch (error) {
      // Any other error, such as missing rights, says nothing about the disk.
      return !isStorageFailure(error) && !isUnreachable(error)
    }
  }

  return {
    role,
    as: (principal, operation, work, config) =>
      run(createUserSettings(principal, operation), work, config),
    system: (operation, work, config) => run(createSystemSettings(operation), work, config),
    listen(channel, onNotification, onListening) {
      const listener = connect(target)
      clients.add(listener)
      // postgres.js connects a LISTEN connection again by itself, so that a failure needs no
      // handling.
      listener.listen(channel, onNotification, onListening).catch(() => {})
      return async () => {
        clients.delete(listener)
        await listener.end({ timeout: CLOSE_TIMEOUT_S })
      }
    },
    async maintain(statement, signal) {
      signal.throwIfAborted()
      const sql = connect(target, { ...parameters, statement_timeout: 0 })
      clients.add(sql)
      const query = sql.unsafe(statement)
      const cancel = () => query.cancel()
      signal.addEventListener('abort', cancel)
      try {
        await query
      } catch (error) {
        signal.throwIfAborted()
        if (isStorageFailure(error) || isUnreachable(error)) {
          throw reportUnavailable(findCause(error))
        }
        throw withoutStatement(error)
      } finally {
        signal.removeEventListener('abort', cancel)
        clients.delete(sql)
        await sql.end({ timeout: CLOSE_TIMEOUT_S })
      }
    },
    async retryUntilAvailable(work) {
      for (let failures = 0; ; failures += 1) {
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof DatabaseUnavailableError) || closing.signal.aborted) throw error
          await sleep(backoffDelayMs(failures, UNAVAILABLE_BACKOFF), closing.signal)
          await storageRestored
        }
      }
    },
    async waitForStorage() {
      await storageRestored
    },
    async close() {
      closing.abort()
      const closedClients = Array.from(clients, client => client.end({ timeout: CLOSE_TIMEOUT_S }))
      await Promise.all([pool.close(), ...closedClients])
    },
  }
}
