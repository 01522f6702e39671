import { readFile, writeFile } from 'node:fs/promises'

/**
 * Reads a file named on the command line. Rejects with an `Error` that names the
 * file and the reason.
 */
export function readLocalFile(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') throw new Error(`${path} does not exist`, { cause })
    throw new Error(`${path} cannot be read: ${cause.message}`, { cause })
  })
}

/**
 * Writes a file named on the command line. Rejects with an `Error` that names the
 * file and the reason.
 */
export function writeLocalFile(
  path: string,
  content: string | Uint8Array,
  mode?: number,
): Promise<void> {
  return writeFile(path, content, { mode }).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'its folder does not exist' : cause.message
    throw new Error(`${path} cannot be written: ${reason}`, { cause })
  })
}
