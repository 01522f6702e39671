import { accessSync, constants, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/**
 * Returns the paths at which the executable of the mediasoup worker, the process that forwards RTP
 * to WebRTC viewers, may be installed: in the toolchain folder of a checkout, and in the data
 * folder. The file name has the version of the mediasoup package.
 */
export function workerExecutablePaths(data: string): string[] {
  const packagePath = findPackageJSON('mediasoup', import.meta.url)!
  const { version } = JSON.parse(readFileSync(packagePath, 'utf8'))

  const name = `mediasoup-worker-${version}-${process.platform}-${process.arch}`
  const toolchain = resolve(import.meta.dirname, '../../../../.toolchain')
  return [toolchain, data].map(folder => join(folder, 'mediasoup-worker', name))
}

/** Returns the first of these paths that is executable, or the reason why none of them is. */
export function findWorkerExecutable(
  paths: readonly string[],
): { executable: string } | { missing: string } {
  const executable = paths.find(isExecutable)
  if (executable) return { executable }

  const progress = paths.map(readInstallProgress).find(Boolean)
  const advice = progress ?? 'run make worker, or set MEDIASOUP_WORKER_BIN to one'
  return { missing: `WebRTC needs mediasoup's worker: ${advice}` }
}

/**
 * Returns the status line that the installation of the worker writes into the same folder;
 * undefined without an installation.
 */
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
