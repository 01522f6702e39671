import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { LogFields, ServiceLog } from './service-log.ts'

/** Delays between restarts: doubled after each exit, and reset after a process ran for a minute. */
const MIN_RESTART_DELAY_MS = 500
const MAX_RESTART_DELAY_MS = 30_000
const STABLE_AFTER_MS = 60_000

export interface SupervisedProcess {
  readonly name: string
  readonly pid: number | undefined
  readonly restarts: number
  /** Sends SIGTERM, and kills the process and its children after `graceMs`. Resolves when it has exited. */
  stop(graceMs: number): Promise<void>
}

/** A Node program to run. */
export interface ProcessCommand {
  /** Name of the process in the log. */
  name: string
  args: string[]
  environment: NodeJS.ProcessEnv
}

type State =
  | { phase: 'running'; child: ChildProcess }
  | { phase: 'waiting'; restartTimer: NodeJS.Timeout }
  | { phase: 'stopped' }

/** Starts a Node process, and restarts it with back-off whenever it exits, until `stop` is called. */
export function superviseProcess(command: ProcessCommand, log: ServiceLog): SupervisedProcess {
  let restarts = 0
  let delayMs = MIN_RESTART_DELAY_MS
  let state: State = run()

  function run(): State {
    const startedAt = performance.now()
    const child = startProcess(command, log)
    const scheduleRestart = (message: string, fields: LogFields) => {
      if (state.phase === 'stopped') return
      if (performance.now() - startedAt > STABLE_AFTER_MS) delayMs = MIN_RESTART_DELAY_MS
      restarts += 1
      log.warn(command.name, message, { ...fields, delay_s: delayMs / 1000 })
      const restart = () => {
        state = run()
      }
      state = { phase: 'waiting', restartTimer: setTimeout(restart, delayMs) }
      delayMs = Math.min(delayMs * 2, MAX_RESTART_DELAY_MS)
    }
    child.once('exit', (code, signal) => {
      killGroup(child.pid)
      scheduleRestart('process exited; restarting', signal ? { signal } : { code })
    })
    // A process that could not be started has no pid and emits no exit event.
    child.once('error', () => child.pid ?? scheduleRestart('process did not start; retrying', {}))
    return { phase: 'running', child }
  }

  return {
    name: command.name,
    get pid() {
      return state.phase === 'running' ? state.child.pid : undefined
    },
    get restarts() {
      return restarts
    },
    async stop(graceMs) {
      const stopped = state
      state = { phase: 'stopped' }
      if (stopped.phase === 'waiting') clearTimeout(stopped.restartTimer)
      if (stopped.phase === 'running') await stopProcess(stopped.child, graceMs)
    },
  }
}

/** Sends SIGTERM, and kills the process group after `graceMs`. Resolves when the process has exited. */
async function stopProcess(child: ChildProcess, graceMs: number): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killTimer = setTimeout(() => killGroup(child.pid), graceMs)
  await exited
  clearTimeout(killTimer)
}

/**
 * Starts a Node process in its own process group, so that Ctrl-C reaches only the supervisor. It has an IPC channel, which
 * closes when the supervisor dies.
 */
export function startProcess(command: ProcessCommand, log: ServiceLog): ChildProcess {
  const child = spawn(process.execPath, command.args, {
    env: command.environment,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  child.once('error', err => log.error(command.name, 'failed to start process', { err }))
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', line => log.line(command.name, line))
  }
  return child
}

/** Kills a process and all its children in the same process group. */
function killGroup(pid: number | undefined): void {
  if (!pid) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}
