import { readFile, writeFile } from 'node:fs/promises'

/** Reads a file that the user named. Throws an `Error` that names the file and the reason. */
export function readLocalFile(path: string): Promise<Buffer> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read: ${error.message}`,
    )
  })
}

/** Writes a file that the user named. Throws an `Error` that names the file and the reason. */
export function writeLocalFile(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  return writeFile(path, content, { mode }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT'
        ? `${path} cannot be written: its folder does not exist`
        : `${path} cannot be written: ${error.message}`,
    )
  })
}
