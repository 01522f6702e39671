import type { Log } from '@eyrie/kit'
import { APPLICATION_NAME, createApplicationDatabase } from './application-database.ts'
import type { ConnectionTarget } from './connection.ts'
import { attachServer } from './server/attached-server.ts'
import {
  type EmbeddedServer,
  SUPERUSER,
  serverFolder,
  startServer,
} from './server/embedded-server.ts'

/** Which database server the management service uses. */
export interface ServerAccessOptions {
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

/** Access to the server of the database: to an external, an attached or an own one. */
interface ServerAccess {
  /**
   * Returns the database to connect to. Waits until its server has started, and starts it if this
   * process runs it. Rejects if that fails, or when `signal` aborts.
   */
  prepareDatabase(signal: AbortSignal): Promise<ConnectionTarget>
  /** Whether the embedded server cannot run because its disk is full. */
  isDiskFull(): boolean
  /** Interrupts the preparation of the database, by stopping the server if this process runs it. */
  interrupt(): Promise<void>
  /** Ends the access. Stops the server if this process runs it. */
  close(): Promise<void>
}

export function createServerAccess(options: ServerAccessOptions): ServerAccess {
  const { data, url, socketFolder, log } = options
  if (url !== undefined) return accessExternalServer(url)
  if (socketFolder !== undefined) return accessAttachedServer(socketFolder)
  return accessOwnServer(data, log)
}

const accessExternalServer = (url: string): ServerAccess => ({
  prepareDatabase: async () => url,
  isDiskFull: () => false,
  async interrupt() {},
  async close() {},
})

/** Accesses the server that the supervisor of the appliance runs. */
function accessAttachedServer(socketFolder: string): ServerAccess {
  const server = attachServer(socketFolder)
  return {
    prepareDatabase: signal => server.target(APPLICATION_NAME, APPLICATION_NAME, signal),
    isDiskFull: () => server.isDiskFull,
    async interrupt() {},
    close: () => server.close(),
  }
}

/** Accesses a server that this process runs. */
function accessOwnServer(data: string, log: Log): ServerAccess {
  let server: EmbeddedServer | undefined
  let stopped: Promise<void> | undefined

  async function stop(): Promise<void> {
    stopped ??= server?.stop()
    await stopped
  }

  return {
    async prepareDatabase(signal) {
      server ??= await startServer(serverFolder(data), log, { signal })
      await createApplicationDatabase(server.target(SUPERUSER, 'postgres'))
      return server.target(APPLICATION_NAME, APPLICATION_NAME)
    },
    isDiskFull: () => server?.isDiskFull === true,
    interrupt: stop,
    // The server may have been started after the interruption.
    close: stop,
  }
}
