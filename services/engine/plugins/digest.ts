import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** SHA-256 over the names and contents of all files in a folder: equal for equal content. */
export async function contentDigest(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
  const sum = createHash('sha256')
  for (const file of files) {
    const content = createHash('sha256').update(await readFile(join(folder, file)))
    sum.update(`${content.digest('hex')} ${file}\n`)
  }
  return sum.digest('hex')
}
