import { dirname, resolve } from 'node:path'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import { ELEMENT_CODE } from '../../isolation/engine-code.ts'
import { MAX_RESIDENT_BYTES } from './limits/usage-limits.ts'
import { createPythonCommand, createPythonPolicy, isPython } from './python/python-process.ts'

const MAX_HEAP_MIB = MAX_RESIDENT_BYTES / 2 ** 20
/**
 * The kernel's limit is higher than the engine's, `MAX_RESIDENT_BYTES`: the engine, which samples
 * the memory in use, can then end the process first, with a reason.
 */
const MAX_DATA_BYTES = 2 * MAX_RESIDENT_BYTES
const MAX_OPEN_FILES = 64
const LIMITS = { dataBytes: MAX_DATA_BYTES, openFiles: MAX_OPEN_FILES }
/**
 * Code is compiled and run with the same options, because Node ignores code that was
 * compiled with others.
 */
const V8_OPTIONS = [
  `--max-old-space-size=${MAX_HEAP_MIB}`,
  // Without it, a native crash could be mistaken for an error of WebAssembly.
  '--disable-wasm-trap-handler',
]

/**
 * Node's permissions for the thread that serves a debugger. The boundaries of the
 * launcher still apply.
 */
const INSPECTOR_OPTIONS = [
  '--allow-inspector',
  '--allow-worker',
  `--import=${resolve(import.meta.dirname, 'process/start-inspector.ts')}`,
]

/** What a process runs: the elements of one plugin. */
export interface ProcessOptions {
  /** Path of the entry module of the plugin. */
  entry: string
  /** Folder of compiled code of the SDK and the plugin, which makes processes start faster. */
  codeFolder?: string | undefined
  /** Whether a debugger can connect. For elements in TypeScript only. */
  isInspected?: boolean
}

/**
 * Returns what the process of an element may use. Its code is uploaded and not trusted: it can read
 * its package and the SDK, but can use no network, write no files and start no programs.
 */
export function createProcessPolicy(options: ProcessOptions): LaunchPolicy {
  // The thread of the debugger reserves as much memory as the main thread. `MAX_RESIDENT_BYTES`
  // applies to both together.
  const dataBytes = options.isInspected ? 2 * MAX_DATA_BYTES : MAX_DATA_BYTES
  // With `fileBytes: 0`, the process cannot write to any file.
  const limits = { ...LIMITS, dataBytes, fileBytes: 0 }
  if (isPython(options.entry)) return createPythonPolicy(options.entry, limits)
  return { read: listReadable(options), execute: [process.execPath], limits }
}

/** Returns the program that runs an element, and its arguments. */
export function createProcessCommand(
  options: ProcessOptions,
): [program: string, ...args: string[]] {
  if (isPython(options.entry)) return createPythonCommand('serve')
  return createNodeCommand('element-process.ts', options, [
    // The addon that receives frame rings is native code.
    '--allow-addons',
    '--disable-warning=SecurityWarning',
    ...(options.isInspected ? INSPECTOR_OPTIONS : []),
  ])
}

/** Returns the program that inspects a plugin before it is installed, and its arguments. */
export function createInspectionCommand(
  options: ProcessOptions,
): [program: string, ...args: string[]] {
  if (isPython(options.entry)) return createPythonCommand('inspect')
  return createNodeCommand('inspect-process.ts', options)
}

function createNodeCommand(
  module: string,
  options: ProcessOptions,
  nodeOptions: readonly string[] = [],
): [program: string, ...args: string[]] {
  const { codeFolder } = options
  return [
    process.execPath,
    // A second boundary inside that of the launcher: Node's permissions.
    '--permission',
    ...listReadable(options).map(path => `--allow-fs-read=${path}`),
    // Node reads the compiled code only if it may also write it. The launcher prevents that.
    ...asList(codeFolder).map(folder => `--allow-fs-write=${folder}`),
    ...V8_OPTIONS,
    ...nodeOptions,
    resolve(import.meta.dirname, 'process/start-process.js'),
    resolve(import.meta.dirname, 'process', module),
    ...asList(codeFolder),
  ]
}

/**
 * Lists the folders and files that the process of an element reads: its package, and
 * the code that runs it.
 */
function listReadable({ entry, codeFolder }: ProcessOptions): string[] {
  return [...ELEMENT_CODE, dirname(entry), ...asList(codeFolder)]
}

/**
 * Returns what a compiling process may use. It compiles the SDK, and the plugin with the module
 * `entry` if there is one. It can write only to `codeFolder`, where it stores the compiled code.
 */
export function createCompilerPolicy(codeFolder: string, entry: string | undefined): LaunchPolicy {
  return {
    read: [...ELEMENT_CODE, ...asList(entry).map(path => dirname(path))],
    execute: [process.execPath],
    write: [codeFolder],
    limits: LIMITS,
  }
}

/** Returns the program that stores compiled code in a folder, and its arguments. */
export function createCompilerCommand(
  codeFolder: string,
  entry: string | undefined,
): [program: string, ...args: string[]] {
  const module = resolve(import.meta.dirname, 'process/compile-modules.ts')
  return [process.execPath, ...V8_OPTIONS, module, codeFolder, ...asList(entry)]
}

const asList = (path: string | undefined): string[] => (path === undefined ? [] : [path])
