import { accessSync, constants, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/** Paths of a worker of the npm package's version: in the toolchain folder of a checkout, and in the data folder. */
export function workerExecutablePaths(data: string): string[] {
  const { version } = JSON.parse(readFileSync(findPackageJSON('mediasoup', import.meta.url)!, 'utf8'))
  const name = `mediasoup-worker-${version}-${process.platform}-${process.arch}`
  const toolchain = resolve(import.meta.dirname, '../../../../.toolchain')
  return [toolchain, data].map(folder => join(folder, 'mediasoup-worker', name))
}

/** Returns the first of these paths that can be executed, or why none can. */
export function findWorkerExecutable(paths: readonly string[]): { executable: string } | { missing: string } {
  const executable = paths.find(isExecutable)
  if (executable) return { executable }
  const progress = paths.map(readInstallProgress).find(Boolean)
  return {
    missing: `WebRTC needs mediasoup's worker: ${progress ?? 'run make worker, or set MEDIASOUP_WORKER_BIN to one'}`,
  }
}

/** The status line that the build or download of the worker writes into the same folder. */
function readInstallProgress(executable: string): string | undefined {
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
