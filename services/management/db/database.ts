import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract/errors'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import { explain } from './explain.ts'
import { migrateDatabase } from './migrate.ts'
import { type Database, openDatabase, type Reach } from './open.ts'
import { applicationName, provideDatabase } from './provide.ts'
import { type EmbeddedServer, serverFolder, startServer, superuser } from './server/server.ts'
import type { ConnectionTarget } from './target.ts'

export interface DatabaseOptions {
  /** Folder of the appliance's data. */
  data: string
  /** A Postgres of the owner's; none: a server of our own in the data folder. */
  url: string | undefined
  log: Log
}

/** The database as management has it: it comes up behind the service, which answers `unavailable` until then. */
export interface DatabaseAccess {
  start(): void
  /** Throws EyrieError `unavailable` while there is none, with the reason. */
  current(): Database
  /** What a person has to do something about. */
  alarms(): string[]
  /** Resolves when there is one; rejects when it is stopped before. */
  readonly ready: Promise<Database>
  stop(): Promise<void>
}

const retry = { initialMs: 500, maxMs: 30_000 }

export function createDatabase({ data, url, log }: DatabaseOptions): DatabaseAccess {
  const stopping = new AbortController()
  const { promise: ready, resolve, reject } = Promise.withResolvers<Database>()
  // Who waits for it hears of it; nobody has to.
  ready.catch(() => {})
  let failure: string | undefined
  let absence: string | undefined
  let server: EmbeddedServer | undefined
  let database: Database | undefined
  let starting: Promise<void> | undefined

  async function target(): Promise<ConnectionTarget> {
    if (url !== undefined) return url
    server ??= await startServer(serverFolder(data), log, {}, stopping.signal)
    await provideDatabase(server.target(superuser, 'postgres'))
    return server.target(applicationName, applicationName)
  }

  /** Once, however often it fails in the same way. */
  function tell(reason: string): void {
    if (failure !== reason) log.error(`${reason}; tried again until it can be`)
    failure = reason
  }

  const reach: Reach = {
    lost(reason) {
      if (absence !== undefined || stopping.signal.aborted) return
      absence = `the database is away: ${explain(reason, url)}`
      log.error(absence)
    },
    found() {
      if (absence === undefined) return
      absence = undefined
      log.info('the database is back')
    },
  }

  async function bringUp(): Promise<void> {
    for (let attempt = 0; !stopping.signal.aborted; attempt += 1) {
      try {
        const where = await target()
        await migrateDatabase(where)
        database = await openDatabase(where, reach)
        failure = undefined
        log.info({ embedded: url === undefined }, 'the database is ready')
        return resolve(database)
      } catch (error) {
        if (stopping.signal.aborted) return
        tell(`the database cannot be used: ${explain(error, url)}`)
        await wait(backoffDelayMs(attempt, retry), undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  return {
    ready,
    start() {
      starting ??= bringUp()
    },
    current() {
      if (database) return database
      throw new EyrieError('unavailable', failure ?? 'the database is starting')
    },
    alarms: () => [failure, absence].filter(alarm => alarm !== undefined),
    async stop() {
      stopping.abort()
      reject(new Error('management is stopping'))
      // Where migrations are under way, they end with the server.
      const cut = database ? undefined : server?.stop()
      await starting
      await database?.close()
      await (cut ?? server?.stop())
    },
  }
}
