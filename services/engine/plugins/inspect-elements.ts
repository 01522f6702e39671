import { dirname, resolve } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { type LaunchedProcess, launch, launchNode } from '@eyrie/kit/launcher/launch'
import type { LaunchReport } from '@eyrie/kit/launcher/launch-report'
import { z } from 'zod'
import { ENGINE_CODE } from '../isolation/engine-code.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import {
  assertPythonInstalled,
  createPythonCommand,
  createPythonPolicy,
  isPython,
} from '../plugin-host/sandbox/python/python-process.ts'
import type { InspectionRequest, Migration } from './inspect-process.ts'

const LOAD_TIMEOUT_MS = 10_000
const MAX_HEAP_MIB = 256
/**
 * Address space of the process: twice the heap, and as much again for Node itself and its threads.
 */
const MAX_DATA_BYTES = 4 * MAX_HEAP_MIB * 1024 * 1024
const LIMITS = {
  // Ends the process even if the engine stops first and no longer enforces the timeout.
  cpuSeconds: (2 * LOAD_TIMEOUT_MS) / 1000,
  dataBytes: MAX_DATA_BYTES,
  openFiles: 256,
  fileBytes: 0,
}
const MAX_PROBLEM_LENGTH = 2000

/** Maximum size of migrated arguments, in characters of JSON. */
const MAX_ARGS_LENGTH = 2 ** 20

/**
 * The answer of the inspection process. It is validated, because the code of the plugin
 * can send messages, too.
 */
const inspectionAnswer = z.object({
  problem: z.string().max(MAX_PROBLEM_LENGTH).optional(),
  /**
   * The migrated arguments, in the order of the request; null for an element that does not
   * migrate its arguments.
   */
  migrated: z.array(z.record(z.string(), z.unknown()).nullable()).optional(),
})
type InspectionAnswer = z.infer<typeof inspectionAnswer>

/**
 * Checks that the elements of an uploaded plugin can be loaded. Throws `EyrieError` (`syntax`)
 * with the reason if they cannot. They are loaded in a separate process, which can read only the
 * plugin and the SDK, cannot write files, open connections or reach other processes, and has
 * limited time and memory.
 */
export async function inspectElements(
  { elements }: KnownPlugin,
  signal: AbortSignal,
): Promise<void> {
  const { problem } = await runInspection({ elements }, [], signal)
  if (problem !== undefined) {
    throw syntaxError('', `failed to load the elements of the plugin: ${problem}`)
  }
}

/**
 * Lets the elements of a version migrate arguments of an earlier one, in the same kind of process
 * as `inspectElements`. Returns the arguments in the order of `migrations`; null for an element
 * that has no `migrate`. Throws `EyrieError` (`reference`) with the reason if one fails.
 */
export async function migrateArgs(
  { name, version, elements }: KnownPlugin,
  migrations: Migration[],
  signal: AbortSignal,
): Promise<(Record<string, unknown> | null)[]> {
  const { problem, migrated } = await runInspection({ elements }, migrations, signal)
  const isComplete =
    migrated?.length === migrations.length && JSON.stringify(migrated).length <= MAX_ARGS_LENGTH
  if (problem === undefined && isComplete) return migrated
  const reason = problem ?? 'it sent an unexpected answer'
  throw new EyrieError(
    'reference',
    `version ${version} of ${name} failed to migrate the arguments of pipelines: ${reason}`,
  )
}

/** Runs the inspection process: it loads the elements, and then migrates arguments. */
async function runInspection(
  { elements }: Pick<KnownPlugin, 'elements'>,
  migrations: Migration[],
  signal: AbortSignal,
): Promise<InspectionAnswer> {
  // All elements of a plugin are exported by the same module.
  const { entry } = elements[0]!
  const inspection = isPython(entry) ? startPython(entry, signal) : startNode(entry, signal)
  const names = elements.map(({ manifest }) => manifest.name)
  const needsArrays = elements.some(
    ({ manifest }) => manifest.needs.includes('pixels') || manifest.capabilities?.inference,
  )
  const answer = waitForAnswer(inspection)
  inspection.child.send({
    entry,
    elements: names,
    needsArrays,
    migrations,
  } satisfies InspectionRequest)
  const result = await answer
  inspection.child.kill('SIGKILL')
  return result
}

/** Returns the answer of the inspection process, or the problem because of which it sends none. */
function waitForAnswer({ child, report }: LaunchedProcess): Promise<InspectionAnswer> {
  // The first event decides: a process exits after it has answered.
  return new Promise(resolve => {
    child.once('message', message => {
      const parsed = inspectionAnswer.safeParse(message)
      resolve(parsed.success ? parsed.data : { problem: 'the plugin sent an unexpected message' })
    })
    child.on('error', () => resolve({ problem: 'the inspection process failed to start' }))
    child.once('exit', async (code, killedBy) =>
      resolve({ problem: describeExit(await report, code, killedBy) }),
    )
  })
}

function describeExit(
  report: LaunchReport,
  code: number | null,
  killedBy: NodeJS.Signals | null,
): string {
  if ('error' in report) return `the inspection process failed to start: ${report.error}`
  if (killedBy) return `loading takes longer than ${LOAD_TIMEOUT_MS / 1000} s`
  return `the process exited with code ${code} while loading`
}

/** Throws `EyrieError` (`syntax`) if the machine has no Python. */
function startPython(entry: string, signal: AbortSignal): LaunchedProcess {
  try {
    assertPythonInstalled()
  } catch (cause) {
    throw syntaxError('', (cause as Error).message, { cause })
  }
  const options = { output: 'ignore', timeoutMs: LOAD_TIMEOUT_MS, signal } as const
  return launch(createPythonCommand('inspect'), createPythonPolicy(entry, LIMITS), options)
}

function startNode(entry: string, signal: AbortSignal): LaunchedProcess {
  const read = [...ENGINE_CODE, dirname(entry)]
  const command = [
    resolve(import.meta.dirname, 'inspect-process.ts'),
    // A second boundary inside that of the launcher: Node's permissions.
    '--permission',
    ...read.map(path => `--allow-fs-read=${path}`),
    `--max-old-space-size=${MAX_HEAP_MIB}`,
  ] as const
  return launchNode(
    command,
    { read, limits: LIMITS },
    { output: 'ignore', timeoutMs: LOAD_TIMEOUT_MS, signal },
  )
}
