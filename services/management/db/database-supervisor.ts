import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import { applicationName, createApplicationDatabase } from './application-database.ts'
import type { ConnectionTarget } from './connection.ts'
import { type AvailabilityListener, createDatabase, type Database } from './database.ts'
import { describeDatabaseError } from './database-errors.ts'
import { migrateDatabase } from './migrate.ts'
import { type EmbeddedServer, serverFolder, startServer, superuser } from './server/embedded-server.ts'

export interface DatabaseSupervisorOptions {
  /** The appliance's data folder. */
  data: string
  /** An external Postgres; undefined: the embedded server in the data folder. */
  url: string | undefined
  log: Log
}

/** Starts the database in the background, retries until that succeeds, and reports while it is unavailable. */
export interface DatabaseSupervisor {
  start(): void
  /** Returns the database. Throws `EyrieError` (`unavailable`), with the reason, until it is ready. */
  current(): Database
  /** Problems that need the attention of a person. */
  alarms(): string[]
  /** Resolves when the database is ready; rejects when the supervisor is stopped before. */
  readonly ready: Promise<Database>
  stop(): Promise<void>
}

const startBackoff = { initialMs: 500, maxMs: 30_000 }

export function createDatabaseSupervisor({ data, url, log }: DatabaseSupervisorOptions): DatabaseSupervisor {
  const stopping = new AbortController()
  const { promise: ready, resolve, reject } = Promise.withResolvers<Database>()
  // Prevents an unhandled rejection where nothing waits for it.
  ready.catch(() => {})
  let startFailure: string | undefined
  let outage: string | undefined
  let server: EmbeddedServer | undefined
  let database: Database | undefined
  let starting: Promise<void> | undefined

  async function resolveTarget(): Promise<ConnectionTarget> {
    if (url !== undefined) return url
    server ??= await startServer(serverFolder(data), log, {}, stopping.signal)
    await createApplicationDatabase(server.target(superuser, 'postgres'))
    return server.target(applicationName, applicationName)
  }

  const availability: AvailabilityListener = {
    unreachable(cause) {
      if (outage !== undefined || stopping.signal.aborted) return
      outage = `the database is unreachable: ${describeDatabaseError(cause, url)}`
      log.error(outage)
    },
    reached() {
      if (outage === undefined) return
      outage = undefined
      log.info('database is reachable again')
    },
  }

  async function startUntilReady(): Promise<void> {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      try {
        const target = await resolveTarget()
        await migrateDatabase(target)
        database = await createDatabase(target, availability)
        startFailure = undefined
        log.info({ embedded: url === undefined }, 'database is ready')
        return resolve(database)
      } catch (error) {
        if (stopping.signal.aborted) return
        reportStartFailure(`the database cannot be used: ${describeDatabaseError(error, url)}`)
        await wait(backoffDelayMs(attempt, startBackoff), undefined, { signal: stopping.signal }).catch(
          () => {},
        )
      }
    }
  }

  /** Logs a reason once, however many attempts fail for it. */
  function reportStartFailure(reason: string): void {
    if (startFailure !== reason) log.error({ reason }, 'failed to start database, retrying')
    startFailure = reason
  }

  return {
    ready,
    start() {
      starting ??= startUntilReady()
    },
    current() {
      if (database) return database
      throw new EyrieError('unavailable', startFailure ?? 'the database is starting')
    },
    alarms: () => [startFailure, outage].filter(alarm => alarm !== undefined),
    async stop() {
      stopping.abort()
      reject(new Error('management is stopping'))
      // Stopping the server first interrupts a migration.
      const interrupted = database ? undefined : server?.stop()
      await starting
      await database?.close()
      await (interrupted ?? server?.stop())
    },
  }
}
