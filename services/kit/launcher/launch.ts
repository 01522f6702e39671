import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type LaunchReport, parseReport, REPORT_VARIABLE } from './launch-report.ts'
import { type LaunchPolicy, toOptions } from './policy.ts'

/** The launcher, which the setup builds. */
export const LAUNCHER = resolve(import.meta.dirname, 'build/eyrie-launcher')
const STANDARD_DESCRIPTORS = 3

/** A program that runs under a policy. It ends when this process ends. */
export interface LaunchedProcess {
  /** The process. It starts as the launcher, which executes the program without a new process. */
  child: ChildProcess
  /**
   * Resolves to the boundaries that are in force, or to the reason why the program was not
   * started. Never rejects.
   */
  report: Promise<LaunchReport>
}

export interface LaunchOptions {
  /** `pipe` makes the output readable as `child.stdout` and `child.stderr`. */
  output: 'pipe' | 'ignore'
  /** Kills the process. */
  signal?: AbortSignal
  /** Time in ms after which the process is killed. */
  timeoutMs?: number
  /**
   * The descriptors 3, 4, … of the program: `ipc`, the message channel of Node; `pipe`, a socket
   * that this process finds in `child.stdio` at the same index; or a number, an open file of this
   * process. The default is one `ipc`.
   */
  descriptors?: readonly ('ipc' | 'pipe' | number)[]
  /** Environment variables of the program; none by default. */
  environment?: Readonly<Record<string, string>>
}

export interface LaunchCommandOptions {
  /** The program inherits the descriptors below this number. All others are closed. */
  inherit: number
  /** Descriptor to which the launcher writes its report. By default, there is no report. */
  reportTo?: number
  /** Passes the report to the program in the environment variable `REPORT_VARIABLE`. */
  reportToProgram?: boolean
  /** Signal that the program receives when this process ends; SIGKILL by default. */
  parentSignal?: NodeJS.Signals
  /** Id of the process that starts the command; by default this one. */
  parent?: number
}

/**
 * Returns the command by which this process starts a program that can use only what the policy
 * grants. The program and its arguments may also follow the returned command.
 */
export function toLaunchCommand(
  command: readonly string[],
  policy: LaunchPolicy,
  {
    inherit,
    reportTo,
    reportToProgram,
    parentSignal = 'SIGKILL',
    parent = process.pid,
  }: LaunchCommandOptions,
): [program: string, ...args: string[]] {
  return [
    LAUNCHER,
    // First, so that the launcher already knows where to report errors in the other options.
    ...(reportTo === undefined ? [] : [`--report=${reportTo}`]),
    ...toOptions(policy),
    `--parent=${parent}`,
    `--parent-signal=${constants.signals[parentSignal]}`,
    `--inherit=${inherit}`,
    ...(reportToProgram ? [`--report-variable=${REPORT_VARIABLE}`] : []),
    '--',
    ...command,
  ]
}

/**
 * Starts a program that can use only what the policy grants. It gets none of the environment
 * variables of this process, and runs in the root folder, which it cannot list. If the kernel does
 * not support a boundary, the program starts without it, and the report says so.
 */
export function launch(
  command: readonly [program: string, ...args: string[]],
  policy: LaunchPolicy,
  { output, signal, timeoutMs, descriptors = ['ipc'], environment = {} }: LaunchOptions,
): LaunchedProcess {
  const inherit = STANDARD_DESCRIPTORS + descriptors.length
  // The pipe of the report is the last entry of `stdio`, so that the program does not inherit it.
  const reportTo = inherit
  const [launcher, ...args] = toLaunchCommand(command, policy, { inherit, reportTo })
  const child = spawn(launcher, args, {
    cwd: '/',
    env: environment,
    stdio: ['ignore', output, output, ...descriptors, 'pipe'],
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  })
  return { child, report: readReport(child, reportTo) }
}

/**
 * Starts a Node module, as `launch` does. The policy must grant the module and
 * everything that it imports.
 */
export function launchNode(
  [module, ...nodeOptions]: readonly [module: string, ...nodeOptions: string[]],
  policy: LaunchPolicy,
  options: LaunchOptions,
): LaunchedProcess {
  const execute = [...(policy.execute ?? []), process.execPath]
  return launch([process.execPath, ...nodeOptions, module], { ...policy, execute }, options)
}

/** Resolves when a process has ended with exit code 0. Rejects if it has ended otherwise. */
export async function waitForSuccess(child: ChildProcess): Promise<void> {
  const [code, killedBy] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the process has ended with ${killedBy ?? `exit code ${code}`}`)
}

async function readReport(child: ChildProcess, descriptor: number): Promise<LaunchReport> {
  if (child.pid === undefined) {
    return { error: `failed to start ${LAUNCHER}: "make setup" builds it` }
  }
  // The types of Node know only the first five descriptors.
  const pipes: readonly unknown[] = child.stdio
  const pipe = pipes[descriptor] as Readable
  // Reading may fail when the launcher is killed. The report is then missing.
  return parseReport(await text(pipe).catch(() => ''))
}
