import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A secret of this appliance, made at the first start and kept readable to its owner alone. */
export function secret(data: string, name: string): string {
  const folder = join(data, 'secrets')
  const file = join(folder, name)
  // A loss of power may have left an empty one, with which everybody on the machine would be let in.
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (kept) return kept
  const made = randomBytes(32).toString('base64url')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, `${made}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
  return made
}
