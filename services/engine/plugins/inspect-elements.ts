import type { Socket } from 'node:net'
import { EyrieError } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { type LaunchedProcess, launch } from '@eyrie/kit/launcher/launch'
import { z } from 'zod'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type {
  InspectionRequest,
  Migration,
} from '../plugin-host/sandbox/process/inspect-process.ts'
import { MESSAGE_SOCKET } from '../plugin-host/sandbox/process/process-descriptors.ts'
import {
  createInspectionCommand,
  createProcessPolicy,
} from '../plugin-host/sandbox/process-policy.ts'
import { assertPythonInstalled, isPython } from '../plugin-host/sandbox/python/python-process.ts'

export interface InspectionOptions {
  /** Folder with compiled code of the SDK, with which the process starts faster. */
  codeFolder?: string | undefined
  /** Aborts the inspection. */
  signal: AbortSignal
}

/** Limits the work of the process, which takes longer on a busy machine. */
const MAX_CPU_SECONDS = 10
/** Ends a process that waits. Clients wait somewhat longer for the answer to their upload. */
const LOAD_TIMEOUT_MS = 25_000
const MAX_PROBLEM_LENGTH = 2000

/** Maximum length of the answer, which contains migrated arguments, in characters of JSON. */
const MAX_ANSWER_LENGTH = 2 ** 20

/**
 * The answer of the inspection process: a line of JSON. It is limited and validated, because the
 * code of the plugin can write to the socket, too.
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
  options: InspectionOptions,
): Promise<void> {
  const { problem } = await runInspection({ elements }, [], options)
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
  options: InspectionOptions,
): Promise<(Record<string, unknown> | null)[]> {
  const { problem, migrated } = await runInspection({ elements }, migrations, options)
  if (problem === undefined && migrated?.length === migrations.length) return migrated
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
  options: InspectionOptions,
): Promise<InspectionAnswer> {
  // All elements of a plugin are exported by the same module.
  const { entry } = elements[0]!
  const inspection = startInspection(entry, options)
  const needsArrays = elements.some(
    ({ manifest }) => manifest.needs.includes('pixels') || manifest.capabilities?.inference,
  )
  const request: InspectionRequest = {
    entry,
    elements: elements.map(({ manifest }) => manifest.name),
    needsArrays,
    migrations,
  }

  const { child } = inspection
  const ended = describeEnd(inspection)
  const socket = (child.stdio as readonly unknown[])[MESSAGE_SOCKET] as Socket
  // The end of the process is reported by its event.
  socket.on('error', () => {})
  socket.write(`${JSON.stringify(request)}\n`)
  const line = await readLine(socket)
  const answer = line === undefined ? { problem: await ended } : parseAnswer(line)
  child.kill('SIGKILL')
  return answer
}

/**
 * Returns the first line that arrives, or its beginning if it is longer than an answer may be;
 * undefined if the socket is closed before the line ends.
 */
async function readLine(socket: Socket): Promise<string | undefined> {
  let text = ''
  try {
    for await (const chunk of socket.setEncoding('utf8')) {
      text += chunk
      const isComplete = chunk.includes('\n')
      if (isComplete) return text.slice(0, text.indexOf('\n'))
      if (text.length > MAX_ANSWER_LENGTH) return text
    }
  } catch {
    // The process has ended.
  }
  return undefined
}

function parseAnswer(line: string): InspectionAnswer {
  if (line.length > MAX_ANSWER_LENGTH) {
    return { problem: 'the plugin sent a message that is too long' }
  }
  try {
    return inspectionAnswer.parse(JSON.parse(line))
  } catch {
    return { problem: 'the plugin sent an unexpected message' }
  }
}

/** Returns why the inspection process has ended without an answer, when it has. */
function describeEnd({ child, report }: LaunchedProcess): Promise<string> {
  return new Promise(resolve => {
    child.on('error', () => resolve('the inspection process failed to start'))
    child.once('exit', async (code, killedBy) => {
      const launched = await report
      if ('error' in launched) {
        resolve(`the inspection process failed to start: ${launched.error}`)
      } else if (child.killed) {
        resolve(`loading takes longer than ${LOAD_TIMEOUT_MS / 1000} s`)
      } else if (killedBy) {
        const cause = 'it may use too much memory or CPU time'
        resolve(`the process was ended by ${killedBy} while loading: ${cause}`)
      } else {
        resolve(`the process exited with code ${code} while loading`)
      }
    })
  })
}

/** Throws `EyrieError` (`syntax`) if the plugin is in Python, and the machine has none. */
function startInspection(
  entry: string,
  { codeFolder, signal }: InspectionOptions,
): LaunchedProcess {
  try {
    if (isPython(entry)) assertPythonInstalled()
  } catch (cause) {
    throw syntaxError('', (cause as Error).message, { cause })
  }
  const policy = createProcessPolicy({ entry, codeFolder })
  return launch(
    createInspectionCommand({ entry, codeFolder }),
    { ...policy, limits: { ...policy.limits, cpuSeconds: MAX_CPU_SECONDS } },
    {
      output: 'ignore',
      timeoutMs: LOAD_TIMEOUT_MS,
      signal,
      // Node's own message channel would read a message of any length, and throw in the engine if
      // it is not JSON.
      descriptors: ['pipe'],
    },
  )
}
