import { constants, copyFileSync, existsSync, lstatSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '@eyrie/kit'
import { createFolder } from '@eyrie/kit/create-folder'
import { listWorkerFolders, listWritableFolders, REGISTRY_FILE } from './media-paths.ts'

/**
 * Creates the folders that media may use, and returns the folders in which it writes, as the
 * settings name them. Media is granted folders that exist when it starts, and cannot create them
 * itself, because it may write nothing else in the data folder.
 */
export function prepareMediaFolders(environment: Environment): string[] {
  const { data } = environment
  const writableFolders = listWritableFolders(environment)
  for (const folder of [join(data, 'media'), ...writableFolders]) createFolder(folder, 0o750)
  for (const folder of listWorkerFolders(data)) {
    try {
      // Media may run as a user of its own, and starts the worker.
      createFolder(folder, 0o755)
    } catch {
      // An installation that cannot be written to contains the worker already.
    }
  }
  copyRegistry(join(data, REGISTRY_FILE))
  return writableFolders
}

/**
 * Copies the registry of the user's other programs, so that GStreamer does not search all
 * plugins at the first start.
 */
function copyRegistry(file: string): void {
  const architecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string]
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const original = join(cache, `gstreamer-1.0/registry.${architecture}.bin`)
  const hasRegistry = lstatSync(file, { throwIfNoEntry: false }) !== undefined
  if (!hasRegistry && existsSync(original)) copyFileSync(original, file, constants.COPYFILE_EXCL)
}
