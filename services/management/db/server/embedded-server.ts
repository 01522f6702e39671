import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { backoffDelayMs, type Log, lockFolder } from '@eyrie/kit'
import { findBinaries } from './binaries.ts'
import { prepareDataDirectory } from './data-directory.ts'
import { serverSettings, startServerProcess } from './server-process.ts'

export { superuser } from './data-directory.ts'

/** A Postgres server that management runs itself. It listens on a Unix socket only. */
export interface EmbeddedServer {
  readonly pid: number | undefined
  /** Returns how a role of the server connects to one of its databases. */
  target(user: string, database: string): { path: string; user: string; database: string }
  /** Stops the server within a second: connections are closed, committed data is durable. */
  stop(): Promise<void>
}

const restartBackoff = { initialMs: 250, maxMs: 10_000 }
/** A server that ran this long restarts without the back-off of earlier failures. */
const STABLE_AFTER_MS = 60_000

/** The folder of the embedded server below the appliance's data folder. */
export const serverFolder = (data: string) => join(data, 'postgres')

/**
 * Starts the server in a folder, which is initialized by the first start, and restarts it with back-off whenever it exits.
 * `settings` override the defaults for a small appliance. Rejects, with what to do, if the first start fails, or when
 * `signal` aborts it.
 */
export async function startServer(
  folder: string,
  log: Log,
  settings: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<EmbeddedServer> {
  const unlock = await lockFolder(folder)
  try {
    const binaries = findBinaries()
    const directory = await prepareDataDirectory(folder, binaries, signal)
    signal?.throwIfAborted()
    const allSettings = { ...serverSettings(directory), ...settings }
    const start = (abort?: AbortSignal) => startServerProcess(directory, binaries, allSettings, log, abort)
    let running = await start(signal)
    const address = await openSocketAddress(directory.path)
    const stopping = new AbortController()
    const supervision = superviseUntilStopped()

    async function superviseUntilStopped(): Promise<void> {
      let startedAt = Date.now()
      for (let attempt = 0; ; attempt += 1) {
        const exit = await running.exited
        if (Date.now() - startedAt > STABLE_AFTER_MS) attempt = 0
        const delayMs = backoffDelayMs(attempt, restartBackoff)
        if (stopping.signal.aborted) return
        log.error({ exit, delayMs: Math.round(delayMs) }, 'database server exited, restarting')
        await wait(delayMs, undefined, { signal: stopping.signal }).catch(() => {})
        if (stopping.signal.aborted) return
        startedAt = Date.now()
        await start().then(
          started => {
            running = started
          },
          error => log.error({ err: error }, 'failed to restart database server'),
        )
        if (stopping.signal.aborted) return running.stop()
      }
    }

    return {
      get pid() {
        return running.pid
      },
      target: (user, database) => ({ path: address.path, user, database }),
      async stop() {
        stopping.abort()
        await running.stop()
        await supervision
        await address.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

const SOCKET_NAME = '.s.PGSQL.5432'
/** Linux limits the path of a socket to 108 bytes, including the terminating zero. */
const MAX_PATH_BYTES = 107

/** Returns the path of the server's socket in a folder; a short alias if the folder's own path is too long. */
export async function openSocketAddress(folder: string): Promise<{ path: string; close(): Promise<void> }> {
  const path = `${folder}/${SOCKET_NAME}`
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, async close() {} }
  const handle = await open(folder, constants.O_DIRECTORY | constants.O_RDONLY)
  return { path: `/proc/self/fd/${handle.fd}/${SOCKET_NAME}`, close: () => handle.close() }
}
