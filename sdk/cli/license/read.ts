import { readFile } from 'node:fs/promises'

/** Throws an Error that names the file and why it cannot be read. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${(cause as NodeJS.ErrnoException).code}`, { cause })
  }
}
