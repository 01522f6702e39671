import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * Files and folders of the data folder that a backup contains in addition to the database.
 * Recordings and logs are left out because of their size, and the output log of the engine because
 * the database already contains its messages.
 */
export const BACKED_UP_PATHS: readonly string[] = [
  'eyrie.json',
  'quickstart.json',
  'secrets',
  'engine/configuration.json',
  'engine/activation.json',
  'management',
  'models',
  'plugins',
]

/** Returns the sorted paths of all files at `BACKED_UP_PATHS`, relative to the data folder. */
export async function listFiles(data: string): Promise<string[]> {
  const files = await Promise.all(BACKED_UP_PATHS.map(path => listFilesAt(data, join(data, path))))
  return files.flat().sort()
}

async function listFilesAt(data: string, path: string): Promise<string[]> {
  const status = await lstat(path).catch(ignoreMissing)
  if (status?.isFile()) return [relative(data, path)]
  if (!status?.isDirectory()) return []
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(data, join(entry.parentPath, entry.name)))
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
