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
 * What a file holds that its owner alone may read. Where there is none, `make` tells what it is to hold; it is on the
 * disk whole before it bears its name, so that a crash leaves no half of a secret.
 */
export function secretFile(file: string, make: () => string): string {
  if (!existsSync(file)) write(file, make())
  return readFileSync(file, 'utf8')
}

function write(file: string, content: string) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.new`
  rmSync(draft, { force: true })
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(draft, file)
  } finally {
    rmSync(draft)
  }
  const folder = openSync(dirname(file), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
