import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** A model is not loaded any more after this many native crashes. */
const MAX_CRASHES = 2

const crashRecord = z.object({
  model: z.string(),
  crashes: z.int().positive(),
  /** The last crash, such as `SIGSEGV while loading`. */
  last: z.string(),
})
export type CrashRecord = z.infer<typeof crashRecord>

export const isQuarantined = ({ crashes }: CrashRecord): boolean => crashes >= MAX_CRASHES

/**
 * Records the native crashes of models by the SHA-256 of their files, so that another file under the same name starts
 * without a record. The records are stored with the models and survive restarts of the engine.
 */
export interface Quarantine {
  findCrashes(sha256: string): CrashRecord | undefined
  addCrash(model: { name: string; sha256: string }, how: string): CrashRecord
  /** Deletes the crash record of a file. */
  clear(sha256: string): void
}

/** Opens the quarantine of the store that writes models to `root`. */
export function openQuarantine(root: string): Quarantine {
  const folder = join(root, '.quarantine')
  const getPath = (sha256: string) => join(folder, `${sha256}.json`)

  const findCrashes = (sha256: string): CrashRecord | undefined => {
    try {
      return crashRecord.parse(JSON.parse(readFileSync(getPath(sha256), 'utf8')))
    } catch {
      return undefined
    }
  }

  return {
    findCrashes,
    addCrash: ({ name, sha256 }, how) => {
      const record = { model: name, crashes: (findCrashes(sha256)?.crashes ?? 0) + 1, last: how }
      mkdirSync(folder, { recursive: true })
      writeFileSync(`${getPath(sha256)}.new`, JSON.stringify(record))
      renameSync(`${getPath(sha256)}.new`, getPath(sha256))
      return record
    },
    clear: sha256 => rmSync(getPath(sha256), { force: true }),
  }
}
