import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { backoffDelayMs, type Log, lockFolder } from '@eyrie/kit'
import type { ConnectionTarget } from '../target.ts'
import { socketAddress } from './address.ts'
import { prepareCluster, superuser } from './cluster.ts'
import { startProcess } from './process.ts'
import { findProgram } from './program.ts'
import { serverSettings } from './settings.ts'

/** A Postgres server of our own, reached by a socket alone. */
export interface EmbeddedServer {
  readonly pid: number | undefined
  /** How a user of the server connects to one of its databases. */
  target(user: string, database: string): ConnectionTarget
  /** Ends it within a second: connections are cut, what is committed is kept. */
  stop(): Promise<void>
}

const restart = { initialMs: 250, maxMs: 10_000 }
const steadyAfterMs = 60_000

/**
 * Starts the server on a folder, which is made at the first start, and starts it again with back-off when it dies.
 * `settings` go before those that suit a small box. Rejects, with what to do, if it cannot be started at all, and with
 * `ending` while it is being started for the first time.
 */
export async function startServer(
  folder: string,
  log: Log,
  settings: Readonly<Record<string, string>> = {},
  ending?: AbortSignal,
): Promise<EmbeddedServer> {
  const release = await lockFolder(folder)
  try {
    const program = findProgram()
    const cluster = await prepareCluster(folder, program, ending)
    ending?.throwIfAborted()
    const start = (ending?: AbortSignal) =>
      startProcess(cluster, program, { ...serverSettings(cluster), ...settings }, log, ending)
    let running = await start(ending)
    const address = await socketAddress(cluster.data)
    const stopping = new AbortController()
    const kept = keepRunning()

    async function keepRunning(): Promise<void> {
      let startedAt = Date.now()
      for (let attempt = 0; ; attempt += 1) {
        const reason = await running.ended
        if (Date.now() - startedAt > steadyAfterMs) attempt = 0
        const waitMs = backoffDelayMs(attempt, restart)
        if (stopping.signal.aborted) return
        log.error(
          `the database server has ended with ${reason}; starting it again in ${Math.round(waitMs)} ms`,
        )
        await wait(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
        if (stopping.signal.aborted) return
        startedAt = Date.now()
        await start().then(
          started => {
            running = started
          },
          error => log.error((error as Error).message),
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
        await kept
        await address.close()
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

/** Where the embedded server keeps everything. */
export const serverFolder = (data: string) => join(data, 'postgres')

export { superuser }
