import { accessSync, constants, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/** Where a worker that fits the npm package is looked for: where set-up puts it, and in the data folder. */
export function workerExecutables(data: string): string[] {
  const { version } = JSON.parse(readFileSync(findPackageJSON('mediasoup', import.meta.url)!, 'utf8'))
  const name = `mediasoup-worker-${version}-${process.platform}-${process.arch}`
  const toolchain = resolve(import.meta.dirname, '../../../../.toolchain')
  return [toolchain, data].map(folder => join(folder, 'mediasoup-worker', name))
}

/** The first of these executables that is there, or why there is none. */
export function findWorker(executables: readonly string[]): { executable: string } | { missing: string } {
  const executable = executables.find(isExecutable)
  if (executable) return { executable }
  const state = executables.map(stateBeside).find(Boolean)
  return {
    missing: `WebRTC needs mediasoup's worker: ${state ?? 'run make worker, or set MEDIASOUP_WORKER_BIN to one'}`,
  }
}

/** What whoever is obtaining it has to say. */
function stateBeside(executable: string): string | undefined {
  try {
    return readFileSync(join(dirname(executable), 'state'), 'utf8').trim()
  } catch {
    return undefined
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
