import { type ChildProcess, type Serializable, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { LAUNCHER, toLaunchCommand } from '@eyrie/kit/launcher/launch'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import type { SecretVariables } from '@eyrie/kit/secret-variables'
import type { LogFields, ServiceLog } from './service-log.ts'

// The delay between restarts doubles with each exit. It is reset when a process has run for a
// minute.
const MIN_RESTART_DELAY_MS = 500
const MAX_RESTART_DELAY_MS = 15_000
const STABLE_AFTER_MS = 60_000

const GROUP_END_TIMEOUT_MS = 1_000
const GROUP_END_POLL_MS = 10

/** A child process of the appliance that is restarted with back-off when it exits. */
export interface SupervisedProcess {
  readonly name: string
  /** Undefined while the process is not running. */
  readonly pid: number | undefined
  readonly restarts: number
  /**
   * Sends a message over the IPC channel, now and at each later start. It replaces
   * the previous message.
   */
  publish(message: Serializable): void
  /** Sends a message over the IPC channel of the running process. */
  send(message: Serializable): void
  /**
   * Sends SIGTERM to the process, and kills the process group after `graceMs`. The process is
   * started again when it has exited. Does nothing while it is already being restarted.
   */
  restart(graceMs: number): void
  /**
   * Sends SIGTERM, and kills the process group after `graceMs`. Resolves when all processes of the
   * group have ended.
   */
  stop(graceMs: number): Promise<void>
}

/** What a program gets from the process that starts it. */
export interface ProcessContext {
  environment: NodeJS.ProcessEnv
  /** A command that starts the program. The program and its arguments are appended to it. */
  launcher?: readonly string[]
  /** Permissions that new files do not have. */
  umask?: number
}

/** A Node.js program and its arguments. */
export interface ProcessCommand extends ProcessContext {
  /** Name of the process in the log. */
  name: string
  args: string[]
  /**
   * Variables that the process reads from a pipe, because other processes can read its environment.
   */
  secrets?: SecretVariables
  /** Returns what the process may use, at every start; everything if undefined. */
  createPolicy?: () => LaunchPolicy
}

/**
 * The descriptor from which a process reads its secrets: the first one after stdin, stdout, stderr
 * and the IPC channel.
 */
const SECRETS_FD = 4

type State =
  | { phase: 'running'; child: ChildProcess }
  | { phase: 'restarting'; child: ChildProcess; killTimer: NodeJS.Timeout }
  | { phase: 'waiting'; restartTimer: NodeJS.Timeout }
  | { phase: 'stopped' }

/**
 * Starts a Node.js process, and restarts it with back-off whenever it exits, until `stop` is
 * called. `handleMessage` receives what the process sends over its IPC channel.
 */
export function superviseProcess(
  command: ProcessCommand,
  log: ServiceLog,
  handleMessage: (message: unknown) => void = () => {},
): SupervisedProcess {
  let restarts = 0
  let delayMs = MIN_RESTART_DELAY_MS
  let published: Serializable | undefined
  let state: State
  run()

  function run() {
    const startedAt = performance.now()
    const child = startProcess(command, log)
    child.on('message', handleMessage)
    state = { phase: 'running', child }
    sendPublished()

    child.once('exit', (code, signal) => {
      killGroup(child.pid)
      scheduleRestart('process exited; restarting', signal ? { signal } : { code }, startedAt)
    })
    child.once('error', () => {
      // A process that could not be started has no pid and emits no exit event.
      if (child.pid === undefined) scheduleRestart('process did not start; retrying', {}, startedAt)
    })
  }

  function sendPublished() {
    // A process that ends before it has received the message receives it at its next start.
    if (published !== undefined) send(published)
  }

  function send(message: Serializable) {
    if ('child' in state && state.child.connected) state.child.send(message, () => {})
  }

  function scheduleRestart(message: string, fields: LogFields, startedAt: number) {
    if (state.phase === 'stopped') return
    if (state.phase === 'restarting') clearTimeout(state.killTimer)
    if (performance.now() - startedAt > STABLE_AFTER_MS) delayMs = MIN_RESTART_DELAY_MS
    restarts += 1

    log.warn(command.name, message, { ...fields, delay_s: delayMs / 1000 })
    state = { phase: 'waiting', restartTimer: setTimeout(run, delayMs) }
    delayMs = Math.min(delayMs * 2, MAX_RESTART_DELAY_MS)
  }

  return {
    name: command.name,
    get pid() {
      return 'child' in state ? state.child.pid : undefined
    },
    get restarts() {
      return restarts
    },
    publish(message) {
      published = message
      sendPublished()
    },
    send,
    restart(graceMs) {
      if (state.phase !== 'running') return
      const { child } = state
      state = { phase: 'restarting', child, killTimer: endProcess(child, graceMs) }
    },
    async stop(graceMs) {
      const previous = state
      state = { phase: 'stopped' }
      if (previous.phase === 'waiting') clearTimeout(previous.restartTimer)
      if (previous.phase === 'restarting') clearTimeout(previous.killTimer)
      if ('child' in previous) await stopProcess(previous.child, graceMs)
    },
  }

  async function stopProcess(child: ChildProcess, graceMs: number) {
    const exited = once(child, 'exit')
    const killTimer = endProcess(child, graceMs)
    await exited
    clearTimeout(killTimer)
    await waitForGroupEnd(child.pid)
  }

  /** Sends SIGTERM. Returns the timer that kills the process group after `graceMs`. */
  function endProcess(child: ChildProcess, graceMs: number): NodeJS.Timeout {
    child.kill('SIGTERM')
    return setTimeout(() => {
      log.warn(command.name, 'process did not stop in time; killing it', {
        grace_s: graceMs / 1000,
      })
      killGroup(child.pid)
    }, graceMs)
  }
}

/**
 * Starts a Node.js process in its own process group, so that Ctrl-C reaches only the supervisor,
 * and logs its output. Its IPC channel closes when the supervisor dies.
 */
export function startProcess(command: ProcessCommand, log: ServiceLog): ChildProcess {
  const { name, environment, umask, secrets } = command
  const [program = '', ...args] = [...(command.launcher ?? []), ...createSpawnCommand(command, log)]
  // The child process inherits the umask of this process, which is restored below.
  const ownUmask = umask === undefined ? undefined : process.umask(umask)
  const child = spawn(program, args, {
    env: { ...environment, ...(secrets && { EYRIE_SECRETS_FD: String(SECRETS_FD) }) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...(secrets ? ['pipe' as const] : [])],
    detached: true,
  })
  if (ownUmask !== undefined) process.umask(ownUmask)
  child.once('error', err => log.error(name, 'failed to start process', { err }))
  if (secrets) sendSecrets(child.stdio[SECRETS_FD] as Writable | undefined, secrets)
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', line => log.line(name, line))
  }
  return child
}

/**
 * Returns the program and its arguments. A process with a policy is started by the launcher, which
 * enforces the policy.
 */
function createSpawnCommand(
  { name, args, createPolicy }: ProcessCommand,
  log: ServiceLog,
): [program: string, ...args: string[]] {
  if (!createPolicy) return [process.execPath, ...args]
  if (existsSync(LAUNCHER)) {
    // The process ends by itself when its IPC channel closes.
    const options = {
      inherit: SECRETS_FD + 1,
      reportToProgram: true,
      parentSignal: 'SIGTERM',
    } as const
    return toLaunchCommand([process.execPath, ...args], createPolicy(), options)
  }
  log.warn(name, 'process starts without boundaries: make setup builds the launcher', {})
  return [process.execPath, ...args]
}

function sendSecrets(pipe: Writable | undefined, secrets: SecretVariables): void {
  // A process that ends before it has read them is restarted, and its exit is logged.
  pipe?.on('error', () => {})
  pipe?.end(JSON.stringify(secrets))
}

/** Kills a process and all its children in the same process group. */
function killGroup(pid: number | undefined): void {
  signalGroup(pid, 'SIGKILL')
}

/**
 * Waits until a killed process group is empty: on a busy machine, its processes end noticeably
 * later than they are killed. The wait is limited, because they stay in the group as zombies if
 * the init process of the machine does not reap them.
 */
async function waitForGroupEnd(pid: number | undefined): Promise<void> {
  const deadlineMs = performance.now() + GROUP_END_TIMEOUT_MS
  while (signalGroup(pid, 0) && performance.now() < deadlineMs) await wait(GROUP_END_POLL_MS)
}

/** Whether the process group exists. Signal 0 only tests this. */
function signalGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  if (!pid) return false
  try {
    return process.kill(-pid, signal)
  } catch {
    // The group is empty.
    return false
  }
}
