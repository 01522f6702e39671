import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readHealth } from '@eyrie/client'
import type { Terminal } from '../command/terminal.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../appliance/engine-only.ts')
const POLL_INTERVAL_MS = 100
const START_TIMEOUT_MS = 60_000

/** Whether an engine responds, healthy or not. */
export async function isReachable(url: string): Promise<boolean> {
  const { ok, reason } = await readHealth(url)
  // An unhealthy engine sends no reason. `readHealth` adds one if no engine has responded.
  return ok || reason === undefined
}

/**
 * Starts an engine and its media service without management, in the data folder and on the ports of
 * the environment. Returns the function that stops them.
 */
export async function startLocalEngine(
  url: string,
  { data, environment }: Terminal,
): Promise<() => Promise<void>> {
  const env = { ...environment, EYRIE_DATA: data }
  // The engine has a process group of its own. Otherwise Ctrl-C would end it before this command
  // has deleted what it created there.
  const child = spawn(process.execPath, [PROGRAM], { env, stdio: 'ignore', detached: true })
  // The engine must not outlive this process, even if the returned function is never called.
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
      throw new Error(
        `the engine has not started within ${START_TIMEOUT_MS / 1000} s: run eyrie logs`,
      )
    }
    await delay(POLL_INTERVAL_MS)
  }
  return stop
}
