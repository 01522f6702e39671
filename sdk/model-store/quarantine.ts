import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** After this many native crashes, a model is in quarantine: the engine no longer loads it. */
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
 * Counts the native crashes of each model. Records belong to the SHA-256 of the ONNX file, so a new
 * file under the same name starts without a record. They are stored in the folder of the models and
 * survive restarts of the engine.
 */
export interface Quarantine {
  findCrashes(sha256: string): CrashRecord | undefined
  /**
   * Counts another crash and returns the new record. `cause` describes the crash, such as
   * `SIGSEGV while loading`.
   */
  addCrash(model: { name: string; sha256: string }, cause: string): CrashRecord
  /** Deletes the crash record of a file. */
  clear(sha256: string): void
}

/** Returns the record after another crash of a model. */
const addToRecord = (
  previous: CrashRecord | undefined,
  model: string,
  cause: string,
): CrashRecord => ({ model, crashes: (previous?.crashes ?? 0) + 1, last: cause })

/** Opens the quarantine in `root`, the folder to which models are added. */
export function openQuarantine(root: string): Quarantine {
  const folder = join(root, '.quarantine')
  const getPath = (sha256: string) => join(folder, `${sha256}.json`)

  /** Records that could not be stored, such as on a full disk. They end with the process. */
  const unstored = new Map<string, CrashRecord>()

  const findCrashes = (sha256: string): CrashRecord | undefined => {
    const record = unstored.get(sha256)
    if (record) return record
    try {
      return crashRecord.parse(JSON.parse(readFileSync(getPath(sha256), 'utf8')))
    } catch {
      return undefined
    }
  }

  /** Writes the record to a draft first, so that a power failure never leaves half a record. */
  function store(sha256: string, record: CrashRecord): void {
    const path = getPath(sha256)
    const draft = `${path}.new`
    mkdirSync(folder, { recursive: true })
    writeFileSync(draft, JSON.stringify(record), { flush: true })
    renameSync(draft, path)
  }

  return {
    findCrashes,
    addCrash: ({ name, sha256 }, cause) => {
      const record = addToRecord(findCrashes(sha256), name, cause)
      try {
        store(sha256, record)
        unstored.delete(sha256)
      } catch {
        unstored.set(sha256, record)
      }
      return record
    },
    clear: sha256 => {
      unstored.delete(sha256)
      rmSync(getPath(sha256), { force: true })
    },
  }
}

/** Creates a quarantine in memory, which ends with the process. */
export function createMemoryQuarantine(): Quarantine {
  const records = new Map<string, CrashRecord>()
  return {
    findCrashes: sha256 => records.get(sha256),
    addCrash: ({ name, sha256 }, cause) => {
      const record = addToRecord(records.get(sha256), name, cause)
      records.set(sha256, record)
      return record
    },
    clear: sha256 => void records.delete(sha256),
  }
}
