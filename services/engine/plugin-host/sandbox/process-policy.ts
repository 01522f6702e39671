import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { launch } from '@eyrie/kit/launcher/launch'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import { ELEMENT_CODE } from '../../isolation/engine-code.ts'
import { MAX_RESIDENT_BYTES } from './limits/usage-limits.ts'
import { createPythonCommand, createPythonPolicy, isPython } from './python/python-process.ts'

const MAX_HEAP_MIB = MAX_RESIDENT_BYTES / 2 ** 20
/** The engine ends a process that uses too much memory, but not in the moment in which it does. */
const MAX_DATA_BYTES = 2 * MAX_RESIDENT_BYTES
const MAX_OPEN_FILES = 64

/** What is needed to run an element. */
export interface ProcessOptions {
  /** Path of the entry module of the plugin. */
  entry: string
  /** Folder of compiled code of the SDK, which makes processes start faster. */
  cacheFolder?: string | undefined
}

/** The folders and files that the process of an element reads: its package, and the code with which it is run. */
function listReadable({ entry, cacheFolder }: ProcessOptions): string[] {
  return [...ELEMENT_CODE, dirname(entry), ...(cacheFolder === undefined ? [] : [cacheFolder])]
}

/**
 * What the process of an element of an uploaded plugin may use: it reads its package and the SDK. It has no network, writes no
 * files and starts no programs.
 */
export function createProcessPolicy(options: ProcessOptions): LaunchPolicy {
  const limits = { dataBytes: MAX_DATA_BYTES, openFiles: MAX_OPEN_FILES, fileBytes: 0 }
  if (isPython(options.entry)) return createPythonPolicy(options.entry, limits)
  return { read: listReadable(options), execute: [process.execPath], limits }
}

/** The program and the arguments that run an element. */
export function createProcessCommand(options: ProcessOptions): [program: string, ...args: string[]] {
  const { entry, cacheFolder } = options
  if (isPython(entry)) return createPythonCommand('serve')
  return [
    process.execPath,
    // A second boundary, which also refuses what Node offers beyond files. The addon that receives descriptors is native.
    '--permission',
    '--allow-addons',
    '--disable-warning=SecurityWarning',
    ...listReadable(options).map(path => `--allow-fs-read=${path}`),
    // Node reads the compiled code only if it may also write it, which the launcher prevents.
    ...(cacheFolder === undefined ? [] : [`--allow-fs-write=${cacheFolder}`]),
    `--max-old-space-size=${MAX_HEAP_MIB}`,
    // Without it, a native crash could be mistaken for an error of WebAssembly.
    '--disable-wasm-trap-handler',
    resolve(import.meta.dirname, 'process/start-process.ts'),
    ...(cacheFolder === undefined ? [] : [cacheFolder]),
  ]
}

/**
 * Stores the compiled code of the SDK in the cache folder, with a process that runs no plugin. Rejects if that is not
 * possible; processes compile the code themselves then.
 */
export async function fillCompileCache(cacheFolder: string): Promise<void> {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 })
  const options = [`--max-old-space-size=${MAX_HEAP_MIB}`, '--disable-wasm-trap-handler']
  const command = [
    process.execPath,
    ...options,
    resolve(import.meta.dirname, 'process/compiled-modules.ts'),
    cacheFolder,
  ]
  const policy = {
    read: ELEMENT_CODE,
    execute: [process.execPath],
    write: [cacheFolder],
    limits: { dataBytes: MAX_DATA_BYTES, openFiles: MAX_OPEN_FILES },
  }
  const { child } = launch(command as [string, ...string[]], policy, { output: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the process has ended with exit code ${code}`)
}
