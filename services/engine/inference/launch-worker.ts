import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { getCompileCacheDir } from 'node:module'
import { join, resolve } from 'node:path'
import type { Log } from '@eyrie/kit'
import { type LaunchedProcess, launchNode, waitForSuccess } from '@eyrie/kit/launcher/launch'
import { createCompilerPolicy, createWorkerPolicy } from './worker-policy.ts'

/**
 * The module of inference workers. The option disables Node's SIGSEGV handler, so that a native
 * crash terminates the process immediately.
 */
const COMMAND = [
  resolve(import.meta.dirname, 'inference-worker.ts'),
  '--disable-wasm-trap-handler',
] as const

const MEBIBYTE = 1024 * 1024
/**
 * Settings of glibc, in bytes, with which a worker keeps the memory of an inference for the next
 * one. By default, memory of this size is returned to the kernel after each inference, and up to a
 * quarter of the CPU time goes into clearing new pages. 32 MiB is the maximum of the second.
 */
const ALLOCATOR_SETTINGS = {
  MALLOC_TRIM_THRESHOLD_: `${64 * MEBIBYTE}`,
  MALLOC_MMAP_THRESHOLD_: `${32 * MEBIBYTE}`,
}

/** Time limit for compiling the code of workers, on a busy machine. */
const MAX_COMPILE_MS = 60_000

/**
 * Returns the folder for the compiled code of workers, with which they start in less than half of
 * the CPU time. It exists once `storeWorkerCode` has stored the code. Undefined if this process has
 * no folder for compiled code.
 */
function getWorkerCodeFolder(): string | undefined {
  const folder = getCompileCacheDir()
  return folder && join(folder, 'inference-worker')
}

/**
 * Starts the process of a worker, which can read the given folders. `dataBytes` is its
 * maximum memory.
 */
export function launchWorker(
  folders: readonly string[],
  dataBytes?: number,
  codeFolder = getWorkerCodeFolder(),
): LaunchedProcess {
  const hasCode = codeFolder !== undefined && existsSync(codeFolder)
  const readable = hasCode ? [...folders, codeFolder] : folders
  return launchNode(COMMAND, createWorkerPolicy(readable, dataBytes), {
    output: 'pipe',
    environment: { ...ALLOCATOR_SETTINGS, ...(hasCode && { NODE_COMPILE_CACHE: codeFolder }) },
  })
}

/**
 * Stores the compiled code of workers in the background, for the next starts. Returns a function
 * that stops this. Needed if a worker has started without stored code.
 */
export function provideWorkerCode(log: Log): () => Promise<void> {
  const codeFolder = getWorkerCodeFolder()
  if (codeFolder === undefined) return async () => {}
  const abort = new AbortController()
  const stored = storeWorkerCode(codeFolder, abort.signal).catch(error => {
    if (abort.signal.aborted) return
    log.warn({ err: error, folder: codeFolder }, 'failed to store compiled code for workers')
  })
  return () => {
    abort.abort()
    return stored
  }
}

/**
 * Stores the compiled code of workers, and replaces what is stored. The code comes from a process
 * that loads no model: models are third-party code, and must not change what other workers run.
 * Rejects if the process fails or is aborted.
 */
export async function storeWorkerCode(codeFolder: string, signal: AbortSignal): Promise<void> {
  const draft = await mkdtemp(`${codeFolder}-`)
  try {
    await compileWorker(draft, signal)
    await rm(codeFolder, { recursive: true, force: true })
    await rename(draft, codeFolder)
  } catch (error) {
    // Another engine that shares the folder may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Runs a worker until it is ready. Node stores the compiled code in a folder when it ends. */
async function compileWorker(codeFolder: string, signal: AbortSignal): Promise<void> {
  const { child } = launchNode(COMMAND, createCompilerPolicy(codeFolder), {
    output: 'ignore',
    environment: { NODE_COMPILE_CACHE: codeFolder },
    timeoutMs: MAX_COMPILE_MS,
    signal,
  })
  child.once('message', () => child.disconnect())
  await waitForSuccess(child)
}
