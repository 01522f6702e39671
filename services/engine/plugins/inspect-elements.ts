import { spawn } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { syntaxError } from '@eyrie/contract/parse'
import { z } from 'zod'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { InspectionRequest } from './inspect-process.ts'

const LOAD_TIMEOUT_MS = 10_000
const MAX_HEAP_MIB = 256
const MAX_PROBLEM_LENGTH = 2000

/** The answer of the process. It is validated because the code of the plugin could have sent it. */
const inspectionAnswer = z.object({ problem: z.string().max(MAX_PROBLEM_LENGTH).optional() })
type InspectionAnswer = z.infer<typeof inspectionAnswer>

const ROOT = resolve(import.meta.dirname, '../../..')
/** Paths that the process may read in addition to the plugin: the SDK and the inspection itself. */
const READABLE_PATHS = ['sdk', 'node_modules', 'services/engine', 'package.json'].map(path =>
  resolve(ROOT, path),
)

/**
 * Checks that the elements of an uploaded plugin can be loaded. Throws `EyrieError` (`syntax`) with the reason if they
 * cannot. They are loaded in a separate process, which can read only the plugin and the SDK, cannot write files, and has
 * limited time and memory.
 */
export async function inspectElements({ elements }: KnownPlugin, signal: AbortSignal): Promise<void> {
  // All elements of a plugin are exported by the same module.
  const { entry } = elements[0]!
  const child = startInspection(entry, signal)
  const { promise: answer, resolve: finish } = Promise.withResolvers<InspectionAnswer>()

  child.on('error', () => finish({ problem: 'the inspection process failed to start' }))
  child.once('exit', (code, killedBy) =>
    finish({
      problem: killedBy
        ? `loading takes longer than ${LOAD_TIMEOUT_MS / 1000} s`
        : `the process exited with code ${code} while loading`,
    }),
  )
  child.once('message', message => {
    const parsed = inspectionAnswer.safeParse(message)
    finish(parsed.success ? parsed.data : { problem: 'the plugin sent an unexpected message' })
  })

  const names = elements.map(({ manifest }) => manifest.name)
  child.send({ entry, elements: names } satisfies InspectionRequest)
  const { problem } = await answer
  child.kill('SIGKILL')
  if (problem !== undefined) throw syntaxError('', `failed to load the elements of the plugin: ${problem}`)
}

function startInspection(entry: string, signal: AbortSignal) {
  const permissions = [...READABLE_PATHS, dirname(entry)].map(path => `--allow-fs-read=${path}`)
  const node = [process.execPath, '--permission', ...permissions, `--max-old-space-size=${MAX_HEAP_MIB}`]
  const module = resolve(import.meta.dirname, 'inspect-process.ts')
  // The limit on CPU time ends the process even if the engine is killed before the timeout.
  const script = `ulimit -t ${(2 * LOAD_TIMEOUT_MS) / 1000}; exec "$0" "$@"`
  return spawn('/bin/sh', ['-c', script, ...node, module], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    timeout: LOAD_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    signal,
  })
}
