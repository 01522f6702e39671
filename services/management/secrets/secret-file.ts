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
 * Returns the content of a secret file, which only its owner can read. If the file does not exist, creates it with the
 * result of `generate`. It is written under a temporary name first, so that a crash cannot leave half of a secret.
 */
export function readOrCreateSecret(file: string, generate: () => string): string {
  if (!existsSync(file)) writeAtomically(file, generate())
  return readFileSync(file, 'utf8')
}

function writeAtomically(file: string, content: string) {
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
  const folder = openSync(dirname(file), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
