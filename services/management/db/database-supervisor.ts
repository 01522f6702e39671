import { backoffDelayMs, sleep } from '@eyrie/kit'
import { type AvailabilityListener, createDatabase, type Database } from './database.ts'
import {
  DatabaseUnavailableError,
  describeDatabaseError,
  isDiskFull,
  isStorageFailure,
} from './database-errors.ts'
import { migrateDatabase } from './migrate.ts'
import { FULL_DISK_REASON } from './server/full-disk.ts'
import { createServerAccess, type ServerAccessOptions } from './server-access.ts'

/**
 * Makes the database available: prepares its server, migrates the schema and connects. A failed
 * start is retried with back-off. An outage raises an alarm until the database is reachable again.
 */
export interface DatabaseSupervisor {
  /** Starts the database in the background. */
  start(): void
  /**
   * Returns the database. Throws `DatabaseUnavailableError` with the reason until
   * the database is ready.
   */
  current(): Database
  /** Returns a message for the operator while the database is unavailable. */
  alarms(): string[]
  /** Resolves when the database is ready. Rejects if the supervisor is stopped first. */
  readonly ready: Promise<Database>
  stop(): Promise<void>
}

const CANNOT_STORE = 'the database cannot store anything'
const START_BACKOFF = { initialMs: 500, maxMs: 4_000 }

export function createDatabaseSupervisor(options: ServerAccessOptions): DatabaseSupervisor {
  const { url, log } = options
  const server = createServerAccess(options)
  const stopping = new AbortController()
  const { promise: ready, resolve, reject } = Promise.withResolvers<Database>()
  // Prevents an unhandled rejection if nothing awaits the promise.
  ready.catch(() => {})

  /**
   * Why the start has failed, or why the database is unavailable. Undefined while
   * there is no problem.
   */
  let problem: string | undefined
  let database: Database | undefined
  let starting: Promise<void> | undefined

  const availability: AvailabilityListener = {
    unavailable(cause) {
      if (stopping.signal.aborted) return
      const isNewProblem = problem === undefined
      problem = describeOutage(cause)
      const [reason] = listAlarms()
      if (isNewProblem) log.error({ reason }, 'database is unavailable')
    },
    available() {
      if (problem === undefined) return
      problem = undefined
      log.info('database is available again')
    },
    isDiskFull: server.isDiskFull,
  }

  function describeOutage(cause: Error): string {
    const reason = describeDatabaseError(cause, url)
    const canStore = !isDiskFull(cause) && !isStorageFailure(cause)
    return canStore ? `the database is unreachable: ${reason}` : `${CANNOT_STORE}: ${reason}`
  }

  function listAlarms(): string[] {
    // A server that notices a full disk closes its connections. The disk is reported as the cause,
    // not the lost connections.
    if (server.isDiskFull()) return [`${CANNOT_STORE}: ${FULL_DISK_REASON}`]
    return problem === undefined ? [] : [problem]
  }

  async function startUntilReady(): Promise<void> {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      try {
        const target = await server.prepareDatabase(stopping.signal)
        await migrateDatabase(target)
        database = await createDatabase(target, availability)
        problem = undefined
        log.info({ embedded: url === undefined }, 'database is ready')
        resolve(database)
        return
      } catch (error) {
        if (stopping.signal.aborted) return
        reportStartFailure(`the database cannot be used: ${describeDatabaseError(error, url)}`)
        const delayMs = backoffDelayMs(attempt, START_BACKOFF)
        await sleep(delayMs, stopping.signal)
      }
    }
  }

  /** Logs a failure unless the previous attempt failed for the same reason. */
  function reportStartFailure(reason: string): void {
    if (problem !== reason) log.error({ reason }, 'failed to start database, retrying')
    problem = reason
  }

  return {
    ready,
    start() {
      starting ??= startUntilReady()
    },
    current() {
      if (database) return database
      const [reason = 'the database is starting'] = listAlarms()
      throw new DatabaseUnavailableError(reason)
    },
    alarms: listAlarms,
    async stop() {
      stopping.abort()
      reject(new Error('the management service is stopping'))
      // Without a database, the start is in progress, and may be migrating the schema.
      const interruption = database === undefined ? server.interrupt() : undefined
      await starting
      await database?.close()
      await interruption
      await server.close()
    },
  }
}
