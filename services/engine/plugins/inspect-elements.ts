import { spawn } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { syntaxError } from '@eyrie/contract/parse'
import { z } from 'zod'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { InspectionRequest } from './inspect-process.ts'

/** The reply of the process. It is validated, because the plugin's code may have sent it. */
const inspectionResult = z.object({ problem: z.string().max(2000).optional() })
type InspectionResult = z.infer<typeof inspectionResult>

const LOAD_TIMEOUT_MS = 10_000
const MAX_HEAP_MIB = 256

const root = resolve(import.meta.dirname, '../../..')
/** Paths that the process may read in addition to the plugin: the SDK and the code of the inspection. */
const readablePaths = ['sdk', 'node_modules', 'services/engine', 'package.json'].map(path =>
  resolve(root, path),
)

/**
 * Loads the elements of a plugin in a separate process that can read only the plugin and the SDK, cannot write, and has
 * limited time and memory. A CPU limit ends the process even if the engine dies first. Throws `EyrieError` (`syntax`) if
 * the elements fail to load.
 */
export async function inspectElements({ elements }: KnownPlugin, signal: AbortSignal): Promise<void> {
  const { entry } = elements[0]!
  const permissions = [...readablePaths, dirname(entry)].map(path => `--allow-fs-read=${path}`)
  const node = [process.execPath, '--permission', ...permissions, `--max-old-space-size=${MAX_HEAP_MIB}`]
  const script = `ulimit -t ${(2 * LOAD_TIMEOUT_MS) / 1000}; exec "$0" "$@"`
  const child = spawn(
    '/bin/sh',
    ['-c', script, ...node, resolve(import.meta.dirname, 'inspect-process.ts')],
    {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: LOAD_TIMEOUT_MS,
      killSignal: 'SIGKILL',
      signal,
    },
  )
  const { promise, resolve: finish } = Promise.withResolvers<InspectionResult>()
  child.on('error', () => finish({ problem: 'the inspection process failed to start' }))
  child.once('exit', (code, killedBy) =>
    finish({
      problem: killedBy
        ? `loading takes longer than ${LOAD_TIMEOUT_MS / 1000} s`
        : `the process exited with code ${code} while loading`,
    }),
  )
  child.once('message', reply =>
    finish(inspectionResult.safeParse(reply).data ?? { problem: 'the plugin sent an unexpected message' }),
  )
  child.send({ entry, elements: elements.map(({ manifest }) => manifest.name) } satisfies InspectionRequest)
  const { problem } = await promise
  child.kill('SIGKILL')
  if (problem !== undefined) throw syntaxError('', `failed to load the elements of the plugin: ${problem}`)
}
