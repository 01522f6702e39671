import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { backoffDelayMs, createLog, type Log, readEnvironment } from '@eyrie/kit'
import { APPLICATION_NAME, createApplicationDatabase } from '../db/application-database.ts'
import { describeDatabaseError } from '../db/database-errors.ts'
import {
  type EmbeddedServer,
  type ServerOptions,
  SUPERUSER,
  serverFolder,
  startServer,
} from '../db/server/embedded-server.ts'
import { type ServerState, sendServerReport } from '../db/server/server-report.ts'

const START_BACKOFF = { initialMs: 500, maxMs: 4_000 }

/**
 * Runs the embedded database server until the supervisor stops this process or disconnects. Reports the state of the server to
 * the supervisor. `EYRIE_DATABASE_CLIENT` names the user of the management service.
 */
export async function runDatabaseServer(variables: NodeJS.ProcessEnv): Promise<void> {
  const { data, databaseClient, logLevel } = readEnvironment(variables)
  const log = createLog('database', logLevel)
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  if (process.connected) process.once('disconnect', stop)
  else stop()
  const { signal } = stopping

  let state: ServerState = { isReady: false, isDiskFull: false }
  const report = (change: Partial<ServerState>) => {
    state = { ...state, problem: undefined, ...change }
    if (process.connected) sendServerReport(state)
  }
  const server = await startUntilReady(
    serverFolder(data),
    {
      signal,
      clients: databaseClient === undefined ? [] : [{ user: databaseClient, role: APPLICATION_NAME }],
      onDiskFull: isDiskFull => report({ isDiskFull }),
    },
    log,
    problem => report({ problem }),
  )
  if (server) {
    report({ isReady: true })
    if (!signal.aborted) await once(signal, 'abort')
    await server.stop()
  }
  process.exit(0)
}

/** Starts the server, and creates the database of the application, with back-off. Undefined: the process is to stop. */
async function startUntilReady(
  folder: string,
  options: ServerOptions & { signal: AbortSignal },
  log: Log,
  report: (problem: string) => void,
): Promise<EmbeddedServer | undefined> {
  const { signal } = options
  let server: EmbeddedServer | undefined
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      server ??= await startServer(folder, log, options)
      await createApplicationDatabase(server.target(SUPERUSER, 'postgres'))
      return server
    } catch (error) {
      if (signal.aborted) break
      report(describeDatabaseError(error, undefined))
      await wait(backoffDelayMs(attempt, START_BACKOFF), undefined, { signal }).catch(() => {})
    }
  }
  await server?.stop()
  return undefined
}
