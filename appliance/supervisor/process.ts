import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Console } from './console.ts'

/** Waits between restarts in ms: doubled from the first to the last, back to the first after a minute's run. */
const firstWaitMs = 500
const lastWaitMs = 30_000
const steadyAfterMs = 60_000

export interface Supervised {
  readonly name: string
  readonly pid: number | undefined
  readonly restarts: number
  /** Asks the process to end, kills it and all that it started after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

export interface Command {
  name: string
  args: string[]
  environment: NodeJS.ProcessEnv
}

/** Keeps a Node process running: restarts it with back-off whenever it ends, until `stop`. */
export function keepRunning(command: Command, log: Console): Supervised {
  let child: ChildProcess | undefined
  let restarts = 0
  let waitMs = firstWaitMs
  let timer: NodeJS.Timeout | undefined
  let stopping = false

  const start = () => {
    const startedAt = performance.now()
    const started = launch(command, log)
    child = started
    const startAgain = (ended: string) => {
      if (stopping) return
      if (performance.now() - startedAt > steadyAfterMs) waitMs = firstWaitMs
      restarts += 1
      log.warn(command.name, `${ended}; starting it again in ${waitMs / 1000} s`)
      timer = setTimeout(start, waitMs)
      waitMs = Math.min(waitMs * 2, lastWaitMs)
    }
    started.once('exit', (code, signal) => {
      killGroup(started.pid)
      startAgain(`ended with ${signal ?? `code ${code}`}`)
    })
    // The machine may have no process left to give: who never started does not exit.
    started.once('error', () => started.pid ?? startAgain('did not start'))
  }
  start()

  return {
    name: command.name,
    get pid() {
      return child?.pid
    },
    get restarts() {
      return restarts
    },
    async stop(graceMs) {
      stopping = true
      clearTimeout(timer)
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const killer = setTimeout(() => killGroup(child?.pid), graceMs)
      await ended
      clearTimeout(killer)
    },
  }
}

/**
 * Starts a Node process in a group of its own, so that Ctrl-C reaches the supervisor alone, with an IPC channel whose
 * end tells the process that its supervisor is gone.
 */
export function launch(command: Command, log: Console): ChildProcess {
  const child = spawn(process.execPath, command.args, {
    env: command.environment,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  child.once('error', error => log.error(command.name, `cannot be started: ${error.message}`))
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', line => log.line(command.name, line))
  }
  return child
}

/** Kills a process group: the process and whatever it started itself. */
function killGroup(pid: number | undefined): void {
  if (!pid) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left in the group.
  }
}
