import { readFile } from 'node:fs/promises'

/** A file that the user named. Throws an Error that says why it cannot be read. */
export function read(path: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read: ${error.message}`,
    )
  })
}
