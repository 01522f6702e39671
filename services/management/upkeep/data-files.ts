import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * Parts of the data folder that a backup contains in addition to the database. Recordings, media, output and logs are large
 * and recreated; so is the engine's message log, whose messages management has stored.
 */
export const backedUpPaths: readonly string[] = [
  'eyrie.json',
  'quickstart.json',
  'secrets',
  'engine/configuration.json',
  'engine/activation.json',
  'management',
  'models',
  'plugins',
]

/** Returns the regular files of these parts, as sorted paths relative to the data folder. */
export async function listFiles(data: string): Promise<string[]> {
  const files = await Promise.all(backedUpPaths.map(path => listFilesAt(data, join(data, path))))
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

/** Returns undefined for the error of a missing file, and throws any other error. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Explains a file system error and what to do. Returns undefined for other errors. */
export function explainFileError(error: unknown, path: string): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException
  return explanations[code]?.(path)
}

const explanations: Record<string, (path: string) => string> = {
  ENOENT: path => `${path} does not exist`,
  ENOTDIR: path => `${path} is not inside a folder`,
  EISDIR: path => `${path} is a folder: name a file`,
  EACCES: path => `no permission to read or write ${path}: run this as the user who runs Eyrie`,
  EROFS: path => `${path} is on a read-only file system: choose another disk`,
  ENOSPC: path => `the disk is full at ${path}; nothing was changed: free some space`,
  EDQUOT: path => `the disk quota is exceeded at ${path}; nothing was changed: free some space`,
}
