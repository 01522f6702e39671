import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** After this many native crashes a model is not loaded again. */
const CRASHES_TO_QUARANTINE = 2

const crashRecord = z.object({
  model: z.string(),
  crashes: z.int().positive(),
  /** How the process died the last time, such as `SIGSEGV while loading`. */
  last: z.string(),
})
export type CrashRecord = z.infer<typeof crashRecord>

export const isQuarantined = ({ crashes }: CrashRecord): boolean => crashes >= CRASHES_TO_QUARANTINE

/**
 * Remembers which model files have crashed the process that ran them, by the file's SHA-256: another file under the
 * same name starts with a clean record. Kept beside the models, so that it outlives the engine.
 */
export interface Quarantine {
  recordOf(sha256: string): CrashRecord | undefined
  addCrash(model: { name: string; sha256: string }, how: string): CrashRecord
  lift(sha256: string): void
}

/** The quarantine of a store whose models are written to `root`. */
export function openQuarantine(root: string): Quarantine {
  const folder = join(root, '.quarantine')
  const pathOf = (sha256: string) => join(folder, `${sha256}.json`)

  const recordOf = (sha256: string): CrashRecord | undefined => {
    try {
      return crashRecord.parse(JSON.parse(readFileSync(pathOf(sha256), 'utf8')))
    } catch {
      return undefined
    }
  }

  return {
    recordOf,
    addCrash: ({ name, sha256 }, how) => {
      const record = { model: name, crashes: (recordOf(sha256)?.crashes ?? 0) + 1, last: how }
      mkdirSync(folder, { recursive: true })
      writeFileSync(`${pathOf(sha256)}.new`, JSON.stringify(record))
      renameSync(`${pathOf(sha256)}.new`, pathOf(sha256))
      return record
    },
    lift: sha256 => rmSync(pathOf(sha256), { force: true }),
  }
}
