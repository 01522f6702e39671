import { readdirSync, realpathSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import { ENGINE_CODE } from '../isolation/engine-code.ts'

const MAX_OPEN_FILES = 4096

/**
 * What an inference worker may use. Models are third-party code, so a worker reads only the given
 * folders, which contain the models and the frame rings, its own code, and GPUs. It has no network,
 * writes no files and starts no programs.
 */
export function createWorkerPolicy(
  folders: readonly string[],
  dataBytes = totalmem(),
): LaunchPolicy {
  return {
    read: [
      ...ENGINE_CODE,
      ...folders,
      ...folders.flatMap(findLinkedFolders),
      '/proc/driver/nvidia',
    ],
    devices: findGraphicsDevices(),
    limits: { dataBytes, openFiles: MAX_OPEN_FILES, fileBytes: 0 },
  }
}

/**
 * What a process that compiles the code of workers may use: what a worker may, without models and
 * frames. It writes only to `codeFolder`.
 */
export function createCompilerPolicy(codeFolder: string): LaunchPolicy {
  const limits = { dataBytes: totalmem(), openFiles: MAX_OPEN_FILES }
  return { ...createWorkerPolicy([]), write: [codeFolder], limits }
}

/** Models may be links to folders elsewhere. */
function findLinkedFolders(folder: string): string[] {
  const links = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isSymbolicLink())
  return links.flatMap(({ name }) => {
    try {
      return [realpathSync(join(folder, name))]
    } catch {
      return [] // The link leads nowhere, so no model is read from it.
    }
  })
}

function findGraphicsDevices(): string[] {
  return readdirSync('/dev')
    .filter(name => name.startsWith('nvidia'))
    .map(name => join('/dev', name))
}
