import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { type LaunchReport, parseReport } from './launch-report.ts'
import { type LaunchPolicy, toOptions } from './policy.ts'

const LAUNCHER = resolve(import.meta.dirname, 'build/eyrie-launcher')
/** Standard input, output and error, and the channel of messages. */
const INHERITED_DESCRIPTORS = 4
const REPORT_DESCRIPTOR = 4

/** A program that runs under a policy. It ends when this process ends. */
export interface LaunchedProcess {
  /** The process, with a channel of messages. It is of the launcher at first, and then of the program. */
  child: ChildProcess
  /** Which boundaries are in force, or why the program was not started. Never rejects. */
  report: Promise<LaunchReport>
}

export interface LaunchOptions {
  /** `pipe` makes the output readable as `child.stdout` and `child.stderr`. */
  output: 'pipe' | 'ignore'
  /** Ends the process. */
  signal?: AbortSignal
  /** Time in ms after which the process is killed. */
  timeoutMs?: number
}

/**
 * Starts a program that can use only what the policy grants. It gets no environment variables, and runs in the root folder,
 * which it cannot list. Boundaries that the kernel lacks are reported, and the program starts nevertheless.
 */
export function launch(
  [program, ...args]: readonly [program: string, ...args: string[]],
  policy: LaunchPolicy,
  { output, signal, timeoutMs }: LaunchOptions,
): LaunchedProcess {
  const options = [
    // First, so that errors in the other options are reported.
    `--report=${REPORT_DESCRIPTOR}`,
    ...toOptions(policy),
    `--parent=${process.pid}`,
    `--inherit=${INHERITED_DESCRIPTORS}`,
  ]
  const child = spawn(LAUNCHER, [...options, '--', program, ...args], {
    cwd: '/',
    env: {},
    stdio: ['ignore', output, output, 'ipc', 'pipe'],
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  })
  return { child, report: readReport(child) }
}

/** Starts a Node module, as `launch` does. The policy must grant the module and everything that it imports. */
export function launchNode(
  [module, ...nodeOptions]: readonly [module: string, ...nodeOptions: string[]],
  policy: LaunchPolicy,
  options: LaunchOptions,
): LaunchedProcess {
  const execute = [...(policy.execute ?? []), process.execPath]
  return launch([process.execPath, ...nodeOptions, module], { ...policy, execute }, options)
}

async function readReport(child: ChildProcess): Promise<LaunchReport> {
  if (child.pid === undefined) return { error: `failed to start ${LAUNCHER}: "make setup" builds it` }
  // The launcher may be killed at any time.
  const text = await readText(child.stdio[REPORT_DESCRIPTOR] as Readable).catch(() => '')
  return parseReport(text)
}

async function readText(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  return text
}
