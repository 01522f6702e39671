import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { LogFields, ServiceLog } from './service-log.ts'

// The delay between restarts doubles with each exit. It is reset when a process has run for a minute.
const MIN_RESTART_DELAY_MS = 500
const MAX_RESTART_DELAY_MS = 15_000
const STABLE_AFTER_MS = 60_000

/** A child process of the appliance that is restarted with back-off when it exits. */
export interface SupervisedProcess {
  readonly name: string
  /** Undefined while the process is not running. */
  readonly pid: number | undefined
  readonly restarts: number
  /** Sends SIGTERM, and kills the process group after `graceMs`. Resolves when the process has exited. */
  stop(graceMs: number): Promise<void>
}

/** A Node.js program and its arguments. */
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

/**
 * Starts a Node.js process, and restarts it with back-off whenever it exits, until `stop` is called. `handleMessage` receives
 * what the process sends over its IPC channel.
 */
export function superviseProcess(
  command: ProcessCommand,
  log: ServiceLog,
  handleMessage: (message: unknown) => void = () => {},
): SupervisedProcess {
  let restarts = 0
  let delayMs = MIN_RESTART_DELAY_MS
  let state: State
  run()

  function run() {
    const startedAt = performance.now()
    const child = startProcess(command, log)
    child.on('message', handleMessage)
    state = { phase: 'running', child }

    child.once('exit', (code, signal) => {
      killGroup(child.pid)
      scheduleRestart('process exited; restarting', signal ? { signal } : { code }, startedAt)
    })
    child.once('error', () => {
      // A process that could not be started has no pid and emits no exit event.
      if (child.pid === undefined) scheduleRestart('process did not start; retrying', {}, startedAt)
    })
  }

  function scheduleRestart(message: string, fields: LogFields, startedAt: number) {
    if (state.phase === 'stopped') return
    if (performance.now() - startedAt > STABLE_AFTER_MS) delayMs = MIN_RESTART_DELAY_MS
    restarts += 1

    log.warn(command.name, message, { ...fields, delay_s: delayMs / 1000 })
    state = { phase: 'waiting', restartTimer: setTimeout(run, delayMs) }
    delayMs = Math.min(delayMs * 2, MAX_RESTART_DELAY_MS)
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
      const previous = state
      state = { phase: 'stopped' }
      if (previous.phase === 'waiting') clearTimeout(previous.restartTimer)
      if (previous.phase === 'running') await stopProcess(previous.child, graceMs)
    },
  }
}

async function stopProcess(child: ChildProcess, graceMs: number): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killTimer = setTimeout(() => killGroup(child.pid), graceMs)
  await exited
  clearTimeout(killTimer)
}

/**
 * Starts a Node.js process in its own process group, so that Ctrl-C reaches only the supervisor, and logs its output. Its IPC
 * channel closes when the supervisor dies.
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
