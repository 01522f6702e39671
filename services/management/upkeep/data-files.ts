import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The files and folders that backups of earlier releases contain. Their manifests list none. */
export const EARLIER_PATHS: readonly string[] = [
  'eyrie.json',
  'quickstart.json',
  'secrets',
  'engine/configuration.json',
  'engine/activation.json',
  'management',
  'models',
  'plugins',
]

/**
 * Files and folders of the data folder that a backup contains in addition to the database.
 * Recordings and logs are left out because of their size. The output log of the engine and its
 * consumers are left out because the database already contains the messages, and measured costs and
 * compiled code because the engine creates them again.
 */
export const BACKED_UP_PATHS: readonly string[] = [
  ...EARLIER_PATHS,
  'engine/identity',
  'engine/model-switches.json',
  'engine/plugin-storage',
]

/**
 * Temporary files in the storage of plugins: unfinished files, and the folder of versions in
 * shadow. No plugin, element or file of theirs has a name that begins with a dot.
 */
const TEMPORARY_STORAGE = /^engine\/plugin-storage\/(.*\/)?\./

/** Returns the sorted paths of all files at `BACKED_UP_PATHS`, relative to the data folder. */
export async function listFiles(data: string): Promise<string[]> {
  const files = await Promise.all(BACKED_UP_PATHS.map(path => listFilesAt(data, path)))
  return files
    .flat()
    .filter(path => !TEMPORARY_STORAGE.test(path))
    .sort()
}

async function listFilesAt(data: string, path: string): Promise<string[]> {
  const status = await lstat(join(data, path)).catch(ignoreMissing)
  if (status?.isFile()) return [path]
  return status?.isDirectory() ? listFilesIn(data, path) : []
}

/** Lists the files in a folder, part of which may be deleted meanwhile. */
async function listFilesIn(data: string, folder: string): Promise<string[]> {
  const options = { withFileTypes: true } as const
  const entries = (await readdir(join(data, folder), options).catch(ignoreMissing)) ?? []
  const files: string[] = []
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isFile()) files.push(path)
    if (entry.isDirectory()) files.push(...(await listFilesIn(data, path)))
  }
  return files
}

/** An error handler that returns undefined if a file does not exist, and throws any other error. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Descriptions of file system errors by error code. */
const FILE_ERRORS: Record<string, (path: string) => string> = {
  ENOENT: path => `${path} does not exist`,
  ENOTDIR: path => `${path} is not inside a folder`,
  EISDIR: path => `${path} is a folder: name a file`,
  EACCES: path => `no permission to read or write ${path}: run this as the user who runs Eyrie`,
  EROFS: path => `${path} is on a read-only file system: choose another disk`,
  ENOSPC: path => `the disk is full at ${path}; nothing was changed: free some space`,
  EDQUOT: path => `the disk quota is exceeded at ${path}; nothing was changed: free some space`,
}

/** Describes a file system error with a remedy. Returns undefined for other errors. */
export function explainFileError(error: unknown, path: string): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException
  return FILE_ERRORS[code]?.(path)
}
