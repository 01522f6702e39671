import { dirname, resolve } from 'node:path'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import { ELEMENT_CODE } from '../../isolation/engine-code.ts'
import { MAX_RESIDENT_BYTES } from './limits/usage-limits.ts'
import { createPythonCommand, createPythonPolicy, isPython } from './python/python-process.ts'

const MAX_HEAP_MIB = MAX_RESIDENT_BYTES / 2 ** 20
/** The engine ends a process that uses too much memory, but not in the moment in which it does. */
const MAX_DATA_BYTES = 2 * MAX_RESIDENT_BYTES
const MAX_OPEN_FILES = 64
const LIMITS = { dataBytes: MAX_DATA_BYTES, openFiles: MAX_OPEN_FILES }
/** Node does not use code that was compiled with others. */
const V8_OPTIONS = [
  `--max-old-space-size=${MAX_HEAP_MIB}`,
  // Without it, a native crash could be mistaken for an error of WebAssembly.
  '--disable-wasm-trap-handler',
]

/** What is needed to run an element. */
export interface ProcessOptions {
  /** Path of the entry module of the plugin. */
  entry: string
  /** Folder of compiled code of the SDK and the plugin, which makes processes start faster. */
  codeFolder?: string | undefined
  /** Whether a debugger can connect. For elements in TypeScript only. */
  isInspected?: boolean
}

/** The folders and files that the process of an element reads: its package, and the code with which it is run. */
function listReadable({ entry, codeFolder }: ProcessOptions): string[] {
  return [...ELEMENT_CODE, dirname(entry), ...(codeFolder === undefined ? [] : [codeFolder])]
}

/**
 * What the process of an element of an uploaded plugin may use: it reads its package and the SDK. It has no network, writes no
 * files and starts no programs.
 */
export function createProcessPolicy(options: ProcessOptions): LaunchPolicy {
  // The thread of the debugger reserves as much as the main thread. What they use together is limited as without it.
  const dataBytes = options.isInspected ? 2 * MAX_DATA_BYTES : MAX_DATA_BYTES
  const limits = { ...LIMITS, dataBytes, fileBytes: 0 }
  if (isPython(options.entry)) return createPythonPolicy(options.entry, limits)
  return { read: listReadable(options), execute: [process.execPath], limits }
}

/** Node's boundary admits the thread of the debugger. That of the launcher remains. */
const INSPECTOR_OPTIONS = [
  '--allow-inspector',
  '--allow-worker',
  `--import=${resolve(import.meta.dirname, 'process/start-inspector.ts')}`,
]

/** The program and the arguments that run an element. */
export function createProcessCommand(options: ProcessOptions): [program: string, ...args: string[]] {
  const { entry, codeFolder } = options
  if (isPython(entry)) return createPythonCommand('serve')
  return [
    process.execPath,
    // A second boundary, which also refuses what Node offers beyond files. The addon that receives descriptors is native.
    '--permission',
    '--allow-addons',
    '--disable-warning=SecurityWarning',
    ...listReadable(options).map(path => `--allow-fs-read=${path}`),
    // Node reads the compiled code only if it may also write it, which the launcher prevents.
    ...(codeFolder === undefined ? [] : [`--allow-fs-write=${codeFolder}`]),
    ...V8_OPTIONS,
    ...(options.isInspected ? INSPECTOR_OPTIONS : []),
    resolve(import.meta.dirname, 'process/start-process.js'),
    ...(codeFolder === undefined ? [] : [codeFolder]),
  ]
}

/** What the process may use that compiles the SDK, and the plugin that it is given: it writes to the folder of the code. */
export function createCompilerPolicy(codeFolder: string, entry: string | undefined): LaunchPolicy {
  return {
    read: [...ELEMENT_CODE, ...(entry === undefined ? [] : [dirname(entry)])],
    execute: [process.execPath],
    write: [codeFolder],
    limits: LIMITS,
  }
}

/** The program and the arguments that store compiled code in a folder. */
export function createCompilerCommand(
  codeFolder: string,
  entry: string | undefined,
): [program: string, ...args: string[]] {
  const module = resolve(import.meta.dirname, 'process/compile-modules.ts')
  return [process.execPath, ...V8_OPTIONS, module, codeFolder, ...(entry === undefined ? [] : [entry])]
}
