import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashContent } from '@eyrie/plugin-signature/package-files'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import {
  EMPTY_INDEX,
  formatIndex,
  INDEX_FILE,
  type RegistryIndex,
  toLabel,
  toPackagePath,
} from './registry-index.ts'
import { openRegistry, readIndex } from './registry-location.ts'

/**
 * Changes registries in folders of this machine. Readers see either the old or the new index,
 * never a part of one.
 */

/** Everyone may read the files, because a web server runs as another user. */
const PUBLIC_FILE_MODE = 0o644

/** What to do with a registry: the entries of its new index, and the result for the caller. */
interface RegistryChange<Result> {
  entries: readonly RegistryEntry[]
  result: Result
}

/**
 * Replaces the index of a registry with the entries that `change` returns, and returns its result.
 * `change` writes the packages of the new entries. Creates the registry if the folder is empty or
 * does not exist. Only one command can change a registry at a time; others fail.
 */
export async function changeRegistry<Result>(
  folder: string,
  change: (index: RegistryIndex) => Promise<RegistryChange<Result>>,
): Promise<Result> {
  await mkdir(folder, { recursive: true })
  const index = join(folder, INDEX_FILE)
  const draft = `${index}.new`
  // The draft also serves as the lock: only one command can create it.
  const file = await open(draft, 'wx', PUBLIC_FILE_MODE).catch(cause => {
    const reason =
      cause.code === 'EEXIST'
        ? `${draft} exists: another command changes the registry. If none does, one was interrupted: delete the file`
        : `${draft} cannot be written: ${cause.message}`
    throw new Error(reason, { cause })
  })
  let changed: RegistryChange<Result>
  try {
    const current = existsSync(index) ? await readIndex(openRegistry(folder)) : EMPTY_INDEX
    assertIntact(current, index)
    changed = await change(current)
    await file.writeFile(formatIndex(changed.entries))
    await file.sync()
    await rename(draft, index)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await file.close()
  }
  // Another command may have created its draft since, so a failure must not delete it.
  await syncFolder(folder)
  return changed.result
}

/** Throws an `Error` if the index has rejected entries, which a new index would lose. */
function assertIntact({ rejected }: RegistryIndex, index: string): void {
  const [first] = rejected
  if (first) {
    throw new Error(`${index}: ${toLabel(first)}: ${first.reason}. Restore or delete this entry`)
  }
}

/** Writes the package of an entry. Returns whether it was missing or different. */
export async function writePackage(
  folder: string,
  entry: RegistryEntry,
  readArchive: () => Promise<Uint8Array>,
): Promise<boolean> {
  const path = join(folder, toPackagePath(entry))
  const existing = await readFile(path).catch(() => undefined)
  if (existing && hashContent(existing) === entry.sha256) return false

  const archive = await readArchive()
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.new`
  const file = await open(draft, 'w', PUBLIC_FILE_MODE)
  try {
    await file.writeFile(archive)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  return true
}

/**
 * Writes the names of files to the disk, so that a rename survives a power failure or the
 * removal of a USB stick.
 */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
