import { once } from 'node:events'
import { backoffDelayMs, createLog, type Log, readEnvironment, sleep } from '@eyrie/kit'
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
 * Runs the embedded database server until the supervisor stops this process or disconnects from
 * it. Reports the state of the server to the supervisor. `EYRIE_DATABASE_CLIENT` names the user of
 * the management service.
 */
export async function runDatabaseServer(variables: NodeJS.ProcessEnv): Promise<void> {
  const { data, databaseClient, logLevel } = readEnvironment(variables)
  const log = createLog('database', logLevel)
  const signal = createStopSignal()

  let state: ServerState = { isReady: false, isDiskFull: false }
  /**
   * Reports a change of the state. A problem is reported once, and is not a part of later reports.
   */
  const report = (change: Partial<ServerState>) => {
    state = { ...state, problem: undefined, ...change }
    if (process.connected) sendServerReport(state)
  }
  const options: StartOptions = {
    signal,
    clients: databaseClient === undefined ? [] : [{ user: databaseClient, role: APPLICATION_NAME }],
    onDiskFull: isDiskFull => report({ isDiskFull }),
    onProblem: problem => report({ problem }),
  }
  const server = await startUntilReady(serverFolder(data), options, log)
  if (server) {
    report({ isReady: true })
    if (!signal.aborted) await once(signal, 'abort')
    await server.stop()
  }
  process.exit(0)
}

/** Returns a signal that aborts when the supervisor stops this process or disconnects from it. */
function createStopSignal(): AbortSignal {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  if (process.connected) process.once('disconnect', stop)
  else stop()
  return stopping.signal
}

interface StartOptions extends ServerOptions {
  signal: AbortSignal
  /** Called with a sentence for the operator when an attempt fails. */
  onProblem(problem: string): void
}

/**
 * Starts the server and creates the database of the application, with back-off. Returns undefined
 * if `signal` aborts first.
 */
async function startUntilReady(
  folder: string,
  { onProblem, ...options }: StartOptions,
  log: Log,
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
      onProblem(describeDatabaseError(error, undefined))
      await sleep(backoffDelayMs(attempt, START_BACKOFF), signal)
    }
  }
  await server?.stop()
  return undefined
}
