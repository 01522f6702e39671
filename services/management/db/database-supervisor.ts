import { backoffDelayMs, type Log, sleep } from '@eyrie/kit'
import { APPLICATION_NAME, createApplicationDatabase } from './application-database.ts'
import type { ConnectionTarget } from './connection.ts'
import { type AvailabilityListener, createDatabase, type Database } from './database.ts'
import {
  DatabaseUnavailableError,
  describeDatabaseError,
  isDiskFull,
  isStorageFailure,
} from './database-errors.ts'
import { migrateDatabase } from './migrate.ts'
import { attachServer } from './server/attached-server.ts'
import {
  type EmbeddedServer,
  SUPERUSER,
  serverFolder,
  startServer,
} from './server/embedded-server.ts'
import { FULL_DISK_REASON } from './server/full-disk.ts'

export interface DatabaseSupervisorOptions {
  /** The appliance's data folder. */
  data: string
  /**
   * The URL of an external Postgres database, or undefined to use the embedded
   * server in the data folder.
   */
  url: string | undefined
  /**
   * The folder of the embedded server's socket if the supervisor of the appliance runs it, or
   * undefined to run it here.
   */
  socketFolder?: string | undefined
  log: Log
}

/**
 * Makes the database available: starts the embedded server, unless the database is external or the
 * supervisor of the appliance runs the server, then migrates the schema and connects. A failed
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

export function createDatabaseSupervisor(options: DatabaseSupervisorOptions): DatabaseSupervisor {
  const { data, url, log } = options
  const stopping = new AbortController()
  const { promise: ready, resolve, reject } = Promise.withResolvers<Database>()
  // Prevents an unhandled rejection if nothing awaits the promise.
  ready.catch(() => {})

  /**
   * Why the start has failed, or why the database is unavailable. Undefined while
   * there is no problem.
   */
  let problem: string | undefined
  /** The server that the supervisor of the appliance runs. */
  const attached =
    options.socketFolder === undefined ? undefined : attachServer(options.socketFolder)
  /** The server that this process runs. */
  let server: EmbeddedServer | undefined
  let database: Database | undefined
  let starting: Promise<void> | undefined

  /**
   * Waits for the server that the supervisor runs, or starts one if it is needed. Returns the
   * database to connect to.
   */
  async function resolveTarget(): Promise<ConnectionTarget> {
    if (url !== undefined) return url
    const { signal } = stopping
    if (attached) return attached.target(APPLICATION_NAME, APPLICATION_NAME, signal)
    server ??= await startServer(serverFolder(data), log, { signal })
    await createApplicationDatabase(server.target(SUPERUSER, 'postgres'))
    return server.target(APPLICATION_NAME, APPLICATION_NAME)
  }

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
    isDiskFull: isServerDiskFull,
  }

  /** Returns whether the embedded server cannot run because its disk is full. */
  function isServerDiskFull(): boolean {
    return (attached ?? server)?.isDiskFull === true
  }

  function describeOutage(cause: Error): string {
    const reason = describeDatabaseError(cause, url)
    const canStore = !isDiskFull(cause) && !isStorageFailure(cause)
    return canStore ? `the database is unreachable: ${reason}` : `${CANNOT_STORE}: ${reason}`
  }

  function listAlarms(): string[] {
    // The server notices a full disk before queries fail, and then closes its connections: this is
    // the cause, not the lost connections.
    if (isServerDiskFull()) return [`${CANNOT_STORE}: ${FULL_DISK_REASON}`]
    return problem === undefined ? [] : [problem]
  }

  async function startUntilReady(): Promise<void> {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      try {
        const target = await resolveTarget()
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
      const isStarting = database === undefined
      // The start may be migrating the database: stopping the server interrupts the migration.
      const interruption = isStarting ? server?.stop() : undefined
      await starting
      await database?.close()
      await (interruption ?? server?.stop())
      await attached?.close()
    },
  }
}
