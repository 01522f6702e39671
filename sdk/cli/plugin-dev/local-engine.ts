import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readHealth } from '@eyrie/client'
import type { Terminal } from '../command/terminal.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../appliance/engine-only.ts')
const POLL_INTERVAL_MS = 100
const START_TIMEOUT_MS = 60_000

/** Whether an engine responds. */
export const isReachable = async (url: string): Promise<boolean> => {
  const { ok, reason } = await readHealth(url)
  return ok || reason === undefined
}

/**
 * Starts an engine and its media service without management, in the data folder and on the ports of the environment. Returns the
 * function that stops them.
 */
export async function startLocalEngine(
  url: string,
  { data, environment }: Terminal,
): Promise<() => Promise<void>> {
  const env = { ...environment, EYRIE_DATA: data }
  // In a group of its own, so that Ctrl-C does not end it before what was created in it has been deleted.
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: 'ignore', detached: true })
  // Also when this process ends without stopping it.
  process.once('exit', () => child.kill('SIGTERM'))
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await isReachable(url))) {
    if (child.exitCode !== null) throw new Error('the engine failed to start: run eyrie logs')
    if (performance.now() > deadline) {
      await stop()
      throw new Error(`the engine has not started within ${START_TIMEOUT_MS / 1000} s: run eyrie logs`)
    }
    await delay(POLL_INTERVAL_MS)
  }
  return stop
}
