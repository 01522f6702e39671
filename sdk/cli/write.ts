import { writeFile } from 'node:fs/promises'

/** Writes a file that the user named. Throws an Error that says why it cannot be written. */
export function write(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  return writeFile(path, content, { mode }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT'
        ? `${path} cannot be written: its folder does not exist`
        : `${path} cannot be written: ${error.message}`,
    )
  })
}
