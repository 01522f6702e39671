import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * Returns the content of a secret file. If the file does not exist, creates it with the result of `generate`; only the owner
 * can read it.
 */
export function readOrCreateSecret(file: string, generate: () => string): string {
  if (!existsSync(file)) createAtomically(file, generate())
  return readFileSync(file, 'utf8')
}

/** Writes a temporary file first and links it, so that a crash cannot leave a partial secret. */
function createAtomically(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.new`
  rmSync(temporary, { force: true })

  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }

  try {
    linkSync(temporary, file)
  } finally {
    rmSync(temporary)
  }
  syncFolder(dirname(file))
}

/** Makes the new directory entry durable. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
