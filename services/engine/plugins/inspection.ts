import { spawn } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { syntaxError } from '@eyrie/contract/parse'
import { z } from 'zod'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { Inspection } from './inspect-process.ts'

/** Said by what may be hostile: `problem` is missing where there is none. */
const verdict = z.object({ problem: z.string().max(2000).optional() })
type Verdict = z.infer<typeof verdict>

const LOAD_MS = 10_000
const MOST_HEAP_MIB = 256

const root = resolve(import.meta.dirname, '../../..')
/** What the process may read besides the plugin: the SDK, and what the inspection itself is made of. */
const readable = ['sdk', 'node_modules', 'services/engine', 'package.json'].map(path => resolve(root, path))

/**
 * Loads a plugin's elements in a process of its own, which reads nothing but the plugin and the SDK, writes nothing and
 * ends in time, also when the engine does not live to end it. Throws EyrieError `syntax` with the reason if they do
 * not load.
 */
export async function inspectElements({ elements }: KnownPlugin, signal: AbortSignal): Promise<void> {
  const { entry } = elements[0]!
  const permissions = [...readable, dirname(entry)].map(path => `--allow-fs-read=${path}`)
  const node = [process.execPath, '--permission', ...permissions, `--max-old-space-size=${MOST_HEAP_MIB}`]
  const limited = `ulimit -t ${(2 * LOAD_MS) / 1000}; exec "$0" "$@"`
  const child = spawn(
    '/bin/sh',
    ['-c', limited, ...node, resolve(import.meta.dirname, 'inspect-process.ts')],
    {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: LOAD_MS,
      killSignal: 'SIGKILL',
      signal,
    },
  )
  const come = Promise.withResolvers<Verdict>()
  child.on('error', () => come.resolve({ problem: 'the process that was to load it did not start' }))
  child.once('exit', (code, killed) =>
    come.resolve({
      problem: killed
        ? `it did not load within ${LOAD_MS / 1000} s`
        : `loading it ended the process (${code})`,
    }),
  )
  child.send({ entry, elements: elements.map(({ manifest }) => manifest.name) } satisfies Inspection)
  child.once('message', said =>
    come.resolve(verdict.safeParse(said).data ?? { problem: 'it answers in place of the engine' }),
  )
  const { problem } = await come.promise
  child.kill('SIGKILL')
  if (problem !== undefined) throw syntaxError('', `its elements do not load: ${problem}`)
}
