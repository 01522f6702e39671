import { readFile, writeFile } from 'node:fs/promises'

/**
 * Reads a file named on the command line. Rejects with an `Error` that names the
 * file and the reason.
 */
export function readLocalFile(path: string): Promise<Buffer> {
  return readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw createReadError(path, cause)
  })
}

/** Returns an `Error` that names the file and the reason why it cannot be read. */
export function createReadError(path: string, cause: NodeJS.ErrnoException): Error {
  const problem = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${cause.message}`
  return new Error(`${path} ${problem}`, { cause })
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
