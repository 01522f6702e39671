import { randomUUID } from 'node:crypto'
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
import { syncFolderSync } from './durable-file.ts'

/**
 * Returns the content of a secret file. If the file does not exist, creates it with the result of
 * `generate`; only the owner can read it. If several processes create it at the same moment, all of
 * them return what the first one has written.
 */
export function readOrCreateSecret(file: string, generate: () => string): string {
  if (!existsSync(file)) createAtomically(file, generate())
  return readFileSync(file, 'utf8')
}

/**
 * Writes a temporary file of its own first and links it, so that neither a crash nor another
 * process can leave a partial secret. An existing file remains.
 */
function createAtomically(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${randomUUID()}.new`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }

  try {
    linkSync(temporary, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary)
  }
  syncFolderSync(dirname(file))
}
