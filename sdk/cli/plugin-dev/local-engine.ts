import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readHealth } from '@eyrie/client'
import type { Terminal } from '../command/terminal.ts'

/** Runs an engine and its media service, without management. */
const ENGINE_PROGRAM = resolve(import.meta.dirname, '../../../appliance/engine-only.ts')
const POLL_INTERVAL_MS = 100
const START_TIMEOUT_MS = 60_000

/** Whether an engine responds at this URL, healthy or not. */
export async function isReachable(url: string): Promise<boolean> {
  const { ok, reason } = await readHealth(url)
  // An unhealthy engine reports no reason. Only `readHealth` adds one, if no engine has responded.
  return ok || reason === undefined
}

/**
 * Starts an engine and its media service on this machine, with the data folder of the terminal and
 * the ports in its environment. Waits until the engine responds at `url`. Returns a function that
 * stops both.
 */
export async function startLocalEngine(
  url: string,
  { data, environment }: Terminal,
): Promise<() => Promise<void>> {
  const env = { ...environment, EYRIE_DATA: data }
  // The engine has a process group of its own. Otherwise Ctrl-C would end it before this command
  // has deleted what it created there.
  const child = spawn(process.execPath, [ENGINE_PROGRAM], { env, stdio: 'ignore', detached: true })
  // The engine must not outlive this process, even if the returned function is never called.
  process.once('exit', () => child.kill('SIGTERM'))
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }

  try {
    await waitUntilReachable(url, child)
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}

/** Waits until the engine responds. Rejects if its process ends, or does not respond in time. */
async function waitUntilReachable(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await isReachable(url))) {
    const hasExited = child.exitCode !== null || child.signalCode !== null
    if (hasExited) throw new Error('the engine failed to start: run eyrie logs')
    if (performance.now() > deadline) {
      const seconds = START_TIMEOUT_MS / 1000
      throw new Error(`the engine has not started within ${seconds} s: run eyrie logs`)
    }
    await delay(POLL_INTERVAL_MS)
  }
}
