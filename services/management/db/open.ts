import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import { backoffDelayMs } from '@eyrie/kit'
import type { PgTransactionConfig } from 'drizzle-orm/pg-core'
import type { Sql } from 'postgres'
import type { Principal } from '../rights/principal.ts'
import { connect } from './connection.ts'
import { isAway, isConflict, isUnreachable, reasonOf, withoutParameters } from './failure.ts'
import { createPool } from './pool.ts'
import { roleFor } from './role.ts'
import { type Settings, settingsOf, settingsOfSystem } from './settings.ts'
import type { ConnectionTarget } from './target.ts'
import { transact, type Work } from './transaction.ts'

export type { Transaction, Work } from './transaction.ts'

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
  /** Does work that has to be done once, again and again while the database is away; until it is closed. */
  insist<T>(work: () => Promise<T>): Promise<T>
  /** The role that the work is done as; none: that of who connects. */
  readonly role: string | undefined
  close(): Promise<void>
}

/** Who is told, by every piece of work, whether the database is there. */
export interface Reach {
  lost(reason: Error): void
  found(): void
}

const connections = 10
const session = {
  statement_timeout: 30_000,
  idle_in_transaction_session_timeout: 30_000,
  // What rights add to a query takes longer to plan than most queries take: each is planned once for each connection.
  plan_cache_mode: 'force_generic_plan',
}
const attempts = 5
const conflictWait = { initialMs: 10, maxMs: 200 }
const insistence = { initialMs: 500, maxMs: 5_000 }

/** Connects to a database whose tables are there. */
export async function openDatabase(target: ConnectionTarget, reach?: Reach): Promise<Database> {
  const role = await roleFor(target)
  const pool = createPool(connections, lost => connect(target, { ...session, ...(role && { role }) }, lost))
  const ears = new Set<Sql>()
  const closing = new AbortController()

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

  async function attempt<T>(settings: Settings, work: Work<T>, config?: PgTransactionConfig): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        const done = await pool.use(connection => transact(connection, settings, work, config))
        reach?.found()
        return done
      } catch (error) {
        if (error instanceof EyrieError) throw error
        if (isUnreachable(error)) throw away(reasonOf(error))
        if (!isConflict(error) || failures + 1 >= attempts) throw withoutParameters(error)
        await wait(backoffDelayMs(failures, conflictWait))
      }
    }
  }

  function away(cause: Error): EyrieError {
    if (!closing.signal.aborted) reach?.lost(cause)
    const reason = 'the database cannot be reached at the moment: try again in a few seconds'
    return new EyrieError('unavailable', reason, { cause })
  }

  async function insist<T>(work: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await work()
      } catch (error) {
        if (!isAway(error) || closing.signal.aborted) throw error
        await wait(backoffDelayMs(failures, insistence), undefined, { signal: closing.signal }).catch(
          () => {},
        )
      }
    }
  }

  return {
    role,
    as: (principal, operation, work, config) => attempt(settingsOf(principal, operation), work, config),
    system: (operation, work, config) => attempt(settingsOfSystem(operation), work, config),
    listen,
    insist,
    async close() {
      closing.abort()
      await Promise.all([pool.close(), ...[...ears].map(ear => ear.end({ timeout: 1 }))])
    },
  }
}
