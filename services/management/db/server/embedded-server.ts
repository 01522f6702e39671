import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { backoffDelayMs, type Log, lockFolder } from '@eyrie/kit'
import { findBinaries } from './binaries.ts'
import { type DatabaseClient, prepareDataDirectory } from './data-directory.ts'
import { createServerLog } from './server-log.ts'
import { type ServerProcess, serverSettings, startServerProcess } from './server-process.ts'

const RESTART_BACKOFF = { initialMs: 250, maxMs: 2_000 }
/** The back-off starts over after the server has run for this long. */
const STABLE_AFTER_MS = 60_000
const SOCKET_NAME = '.s.PGSQL.5432'
/** Linux limits a socket's path to 108 bytes including the terminating zero (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107

export { SUPERUSER } from './data-directory.ts'

/**
 * A Postgres server that this process runs as a child process. It listens on a Unix socket only.
 */
export interface EmbeddedServer {
  /** The current process; it changes when the server is restarted. */
  readonly pid: number | undefined
  /** Whether the server cannot run because its disk is full. */
  readonly isDiskFull: boolean
  /** Returns how to connect to a database of the server as one of its roles. */
  target(user: string, database: string): { path: string; user: string; database: string }
  /**
   * Closes all connections and stops the server within about a second. Committed data is durable.
   */
  stop(): Promise<void>
}

/** Returns the folder of the embedded server inside the appliance's data folder. */
export const serverFolder = (data: string) => join(data, 'postgres')

/** Returns the folder of the server's socket if other users of the machine connect to it. */
export const sharedSocketFolder = (data: string) => join(serverFolder(data), 'socket')

export interface ServerOptions {
  /** Postgres settings that override the defaults for a small appliance. */
  settings?: Readonly<Record<string, string>>
  /** Aborts the first start. */
  signal?: AbortSignal
  /**
   * Users of the machine that connect in addition to the user of this process, and to root. The
   * socket is then in a folder that the supervisor has prepared for them.
   */
  clients?: readonly DatabaseClient[]
  /** Is called when the disk becomes full, and when there is space again. */
  onDiskFull?: (isFull: boolean) => void
}

/**
 * Starts a server in a folder and restarts it with back-off whenever it exits. The first start
 * initializes the folder. Rejects if the first start fails or is aborted; the message of the
 * error says what to do.
 */
export async function startServer(
  folder: string,
  log: Log,
  { settings, signal, clients, onDiskFull }: ServerOptions = {},
): Promise<EmbeddedServer> {
  const unlock = await lockFolder(folder)
  try {
    const binaries = findBinaries()
    const directory = await prepareDataDirectory(folder, binaries, clients, signal)
    signal?.throwIfAborted()

    const allSettings = { ...serverSettings(directory), ...settings }
    const serverLog = createServerLog(log, onDiskFull)
    const start = (abort?: AbortSignal) =>
      startServerProcess(directory, binaries, allSettings, serverLog, abort)
    const firstProcess = await start(signal)
    const socket = await openSocketAddress(directory.socketFolder).catch(async error => {
      await firstProcess.stop()
      throw error
    })
    const server = superviseServer(firstProcess, start, log)

    return {
      get pid() {
        return server.pid
      },
      get isDiskFull() {
        return serverLog.isDiskFull()
      },
      target: (user, database) => ({ path: socket.path, user, database }),
      async stop() {
        await server.stop()
        await socket.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Restarts a server with back-off whenever it exits, until `stop` is called. */
function superviseServer(
  firstProcess: ServerProcess,
  start: () => Promise<ServerProcess>,
  log: Log,
): { readonly pid: number | undefined; stop(): Promise<void> } {
  let current = firstProcess
  /** Number of attempts to restart the server since the back-off started over. */
  let attempts = 0
  const stopping = new AbortController()
  const { signal } = stopping
  const supervision = restartUntilStopped()

  async function restartUntilStopped(): Promise<void> {
    while (true) {
      const startedAtMs = Date.now()
      const exit = await current.exited
      if (signal.aborted) return
      log.error({ exit }, 'database server exited, restarting')

      const wasStable = Date.now() - startedAtMs > STABLE_AFTER_MS
      if (wasStable) attempts = 0
      await restart()
      // If `stop` was called during the start, it has stopped the previous process only.
      if (signal.aborted) await current.stop()
    }
  }

  /** Tries to start the server until it runs or `stop` is called. */
  async function restart(): Promise<void> {
    let lastReason: string | undefined
    while (!signal.aborted) {
      try {
        await wait(backoffDelayMs(attempts, RESTART_BACKOFF), undefined, { signal })
        attempts += 1
        current = await start()
        return
      } catch (error) {
        if (signal.aborted) return
        const reason = (error as Error).message
        if (reason !== lastReason) {
          log.error({ reason }, 'failed to restart database server, retrying')
        }
        lastReason = reason
      }
    }
  }

  return {
    get pid() {
      return current.pid
    },
    async stop() {
      stopping.abort()
      await current.stop()
      await supervision
    },
  }
}

/**
 * Returns the path of the server's socket in a folder, or a short alias for a path that is too
 * long.
 */
export async function openSocketAddress(
  folder: string,
): Promise<{ path: string; close(): Promise<void> }> {
  const path = `${folder}/${SOCKET_NAME}`
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { path, async close() {} }
  const handle = await open(folder, constants.O_DIRECTORY | constants.O_RDONLY)
  return { path: `/proc/self/fd/${handle.fd}/${SOCKET_NAME}`, close: () => handle.close() }
}
