import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * SHA-256 of each file of a plugin package, in hexadecimal, by its path relative to the
 * folder of the plugin.
 */
export type PackageFiles = ReadonlyMap<string, string>

export const hashContent = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/**
 * Hashes all files of an unpacked package. Throws an `Error` that names an entry that is neither a
 * file nor a folder: what a link points to could change later.
 */
export async function hashPackage(folder: string): Promise<PackageFiles> {
  const files = new Map<string, string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue
    const path = relative(folder, join(entry.parentPath, entry.name))
    if (!entry.isFile()) {
      throw new Error(
        `${JSON.stringify(path)} is a link or a device: a package may contain only files and folders`,
      )
    }
    files.set(path, hashContent(await readFile(join(folder, path))))
  }
  return files
}
