import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import { backoffDelayMs } from '@eyrie/kit'
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { Sql } from 'postgres'
import type { Principal } from '../rights/principal.ts'
import { type ConnectionTarget, connect } from './connection.ts'
import { createConnectionPool } from './connection-pool.ts'
import {
  findCause,
  isConflict,
  isDatabaseUnavailable,
  isUnreachable,
  withoutParameters,
} from './database-errors.ts'
import { chooseRole } from './role.ts'
import { type Work, withTransaction } from './transaction.ts'
import { settingsOfSystem, settingsOfUser, type TransactionSettings } from './transaction-settings.ts'

export type { Transaction, Work } from './transaction.ts'

/**
 * Access to the database. Work runs in one transaction, which commits when the work resolves; `operation` names it in the
 * audit log. Rejects with `EyrieError` (`unavailable`) while the database is unreachable.
 */
export interface Database {
  /** Runs work with the rights of a user: row-level security hides all other rows. */
  as<T>(principal: Principal, operation: string, work: Work<T>, config?: PgTransactionConfig): Promise<T>
  /** Runs work of the appliance itself, with all rights. */
  system<T>(operation: string, work: Work<T>, config?: PgTransactionConfig): Promise<T>
  /**
   * Subscribes to a channel of NOTIFY. `onListening` is called when listening starts, and again after a lost connection
   * was replaced: notifications sent in between are missing. Returns a function that ends the subscription.
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onListening: () => void,
  ): () => Promise<void>
  /** Repeats work while the database is unreachable, until the database is closed. */
  retryUntilAvailable<T>(work: () => Promise<T>): Promise<T>
  /** The role that transactions run as; undefined: the user that connects. */
  readonly role: string | undefined
  close(): Promise<void>
}

/** Notified by every transaction whether the database could be reached. */
export interface AvailabilityListener {
  unreachable(cause: Error): void
  reached(): void
}

const POOL_SIZE = 10
const sessionParameters = {
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
  // Policies make planning slower than running most queries: prepared statements keep the plan of their first run.
  plan_cache_mode: 'force_generic_plan',
}
const MAX_ATTEMPTS = 5
const conflictBackoff = { initialMs: 10, maxMs: 200 }
const unavailableBackoff = { initialMs: 500, maxMs: 5_000 }

/** Connects to a database whose schema is up to date. */
export async function createDatabase(
  target: ConnectionTarget,
  availability?: AvailabilityListener,
): Promise<Database> {
  const role = await chooseRole(target)
  const parameters = { ...sessionParameters, ...(role && { role }) }
  const pool = createConnectionPool(POOL_SIZE, onLost => connect(target, parameters, onLost))
  const listeners = new Set<Sql>()
  const closing = new AbortController()

  async function run<T>(
    settings: TransactionSettings,
    work: Work<T>,
    config?: PgTransactionConfig,
  ): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        const result = await pool.use(({ sql, db }) =>
          withTransaction(sql, () => work(db), { ...config, settings }),
        )
        availability?.reached()
        return result
      } catch (error) {
        if (error instanceof EyrieError) throw error
        if (isUnreachable(error)) throw unavailable(findCause(error))
        if (!isConflict(error) || failures + 1 >= MAX_ATTEMPTS) throw withoutParameters(error)
        await wait(backoffDelayMs(failures, conflictBackoff))
      }
    }
  }

  function unavailable(cause: Error): EyrieError {
    if (!closing.signal.aborted) availability?.unreachable(cause)
    const reason = 'the database is unreachable: try again in a few seconds'
    return new EyrieError('unavailable', reason, { cause })
  }

  return {
    role,
    as: (principal, operation, work, config) => run(settingsOfUser(principal, operation), work, config),
    system: (operation, work, config) => run(settingsOfSystem(operation), work, config),
    listen(channel, onNotification, onListening) {
      const listener = connect(target)
      listeners.add(listener)
      // postgres.js retries by itself.
      listener.listen(channel, onNotification, onListening).catch(() => {})
      return async () => {
        listeners.delete(listener)
        await listener.end({ timeout: 1 })
      }
    },
    async retryUntilAvailable(work) {
      for (let failures = 0; ; failures += 1) {
        try {
          return await work()
        } catch (error) {
          if (!isDatabaseUnavailable(error) || closing.signal.aborted) throw error
          const delayMs = backoffDelayMs(failures, unavailableBackoff)
          await wait(delayMs, undefined, { signal: closing.signal }).catch(() => {})
        }
      }
    },
    async close() {
      closing.abort()
      await Promise.all([pool.close(), ...[...listeners].map(listener => listener.end({ timeout: 1 }))])
    },
  }
}
