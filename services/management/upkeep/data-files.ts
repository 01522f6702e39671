import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * What of the data folder a backup holds besides the database. Recordings, media, output and logs are large and make
 * themselves anew; so does the engine's log of messages, which management has stored.
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

/** Plain files of the parts, by their paths in the data folder, in order. */
export async function listFiles(data: string): Promise<string[]> {
  const found = await Promise.all(backedUpPaths.map(part => filesAt(data, join(data, part))))
  return found.flat().sort()
}

async function filesAt(data: string, path: string): Promise<string[]> {
  const status = await lstat(path).catch(ignoreMissing)
  if (status?.isFile()) return [relative(data, path)]
  if (!status?.isDirectory()) return []
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter(entry => entry.isFile())
    .map(entry => relative(data, join(entry.parentPath, entry.name)))
}

export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
