import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import { backoffMs } from '@eyrie/kit'
import { sql as query } from 'drizzle-orm'
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import type { Principal } from '../rights/principal.ts'
import { connect } from './connection.ts'
import { isConflict, isUnreachable } from './failure.ts'
import { createPool } from './pool.ts'
import { roleFor } from './role.ts'
import { type Settings, settingsOf, settingsOfSystem } from './settings.ts'
import type { ConnectionTarget } from './target.ts'

/** One transaction, in which all of a piece of work is done. */
export type Transaction = Parameters<Parameters<PostgresJsDatabase['transaction']>[0]>[0]

/** May be done more than once, if other work came first: so it touches nothing but the database. */
export type Work<T> = (tx: Transaction) => Promise<T>

/**
 * How everything reads and writes. Each piece of work is one transaction, committed when it resolves; `operation` names
 * it in the audit. Rejects with EyrieError `unavailable` where there is no database to ask.
 */
export interface Database {
  /** With the rights of a user: what these do not show is not there. */
  as<T>(principal: Principal, operation: string, work: Work<T>, config?: PgTransactionConfig): Promise<T>
  /** With all rights, for what the appliance does by itself. */
  system<T>(operation: string, work: Work<T>, config?: PgTransactionConfig): Promise<T>
  /**
   * Calls `heard` with what is told on a channel (NOTIFY), and `begun` whenever listening begins, again after the
   * connection was lost: what was told before that has not been heard. Returns what ends it.
   */
  listen(channel: string, heard: (payload: string) => void, begun: () => void): () => Promise<void>
  /** The role that the work is done as; none: that of who connects. */
  readonly role: string | undefined
  close(): Promise<void>
}

const connections = 10
const timeouts = { statement_timeout: 30_000, idle_in_transaction_session_timeout: 30_000 }
const attempts = 5
const conflictWait = { firstMs: 10, mostMs: 200 }

/** Connects to a database whose tables are there. */
export async function openDatabase(target: ConnectionTarget): Promise<Database> {
  const role = await roleFor(target)
  const pool = createPool(connections, lost => connect(target, { ...timeouts, ...(role && { role }) }, lost))
  const ears = new Set<Sql>()

  function listen(channel: string, heard: (payload: string) => void, begun: () => void) {
    const ear = connect(target)
    ears.add(ear)
    // It is tried again until it succeeds.
    ear.listen(channel, heard, begun).catch(() => {})
    return async () => {
      ears.delete(ear)
      await ear.end({ timeout: 1 })
    }
  }

  async function transact<T>(settings: Settings, work: Work<T>, config?: PgTransactionConfig): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await pool.use(orm =>
          orm.transaction(async tx => {
            await tx.execute(query`select ${query.join(assignments(settings), query`, `)}`)
            return work(tx)
          }, config),
        )
      } catch (error) {
        if (isUnreachable(error)) throw unreachable(error)
        if (!isConflict(error) || attempt + 1 >= attempts) throw error
        await wait(backoffMs(attempt, conflictWait))
      }
    }
  }

  return {
    role,
    as: (principal, operation, work, config) => transact(settingsOf(principal, operation), work, config),
    system: (operation, work, config) => transact(settingsOfSystem(operation), work, config),
    listen,
    async close() {
      await Promise.all([pool.close(), ...[...ears].map(ear => ear.end({ timeout: 1 }))])
    },
  }
}

/** The settings end with the transaction. */
const assignments = (settings: Settings) =>
  Object.entries(settings).map(([name, value]) => query`set_config(${name}, ${value}, true)`)

const unreachable = (cause: unknown) =>
  new EyrieError('unavailable', 'the database cannot be reached at the moment: try again in a few seconds', {
    cause,
  })
