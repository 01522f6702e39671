import { existsSync } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashContent } from '@eyrie/plugin-signature/package-files'
import type { RegistryEntry } from '@eyrie/plugin-signature/registry-entry'
import { createLocalFolder } from '../command/local-files.ts'
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

/** Mode of files that everyone may read, because a web server runs as another user. */
const PUBLIC_FILE_MODE = 0o644

/** The change of a registry: the entries of its new index, and the result for the caller. */
interface RegistryChange<Result> {
  entries: readonly RegistryEntry[]
  result: Result
}

/**
 * Changes the registry in a folder. `change` receives the current index, writes the packages of new
 * entries, and returns the entries of the new index. Returns the result of `change`.
 *
 * Creates the registry if the folder is empty or does not exist. Only one command can change a
 * registry at a time: rejects if another one does.
 */
export async function changeRegistry<Result>(
  folder: string,
  change: (index: RegistryIndex) => Promise<RegistryChange<Result>>,
): Promise<Result> {
  await createLocalFolder(folder)
  const result = await replaceIndex(join(folder, INDEX_FILE), async () => {
    const changed = await change(await readIntactIndex(folder))
    return { content: formatIndex(changed.entries), result: changed.result }
  })
  // The lock has been released: if this fails, the draft of another command must not be deleted.
  await syncFolder(folder)
  return result
}

/**
 * Replaces an index file with the content that `create` returns. Until then, the draft of the new
 * file serves as a lock: a second command cannot create it. If anything fails, deletes the draft
 * and leaves the index as it is.
 */
async function replaceIndex<Result>(
  indexFile: string,
  create: () => Promise<{ content: string; result: Result }>,
): Promise<Result> {
  const draft = `${indexFile}.new`
  const file = await createDraft(draft)
  try {
    const { content, result } = await create()
    await file.writeFile(content)
    await file.sync()
    await rename(draft, indexFile)
    return result
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Creates a draft. Rejects with the remedy if it exists, because it belongs to another command. */
function createDraft(draft: string): Promise<FileHandle> {
  // The flag `x` makes the call fail if the file exists.
  return open(draft, 'wx', PUBLIC_FILE_MODE).catch(cause => {
    const reason =
      cause.code === 'EEXIST'
        ? `${draft} exists: another command changes the registry. If none does, one was interrupted: delete the file`
        : `${draft} cannot be written: ${cause.message}`
    throw new Error(reason, { cause })
  })
}

/**
 * Reads the index of the registry in a folder. It is empty if the registry does not exist. Rejects
 * if the index has entries that are malformed or forged: the new index would not contain them.
 */
async function readIntactIndex(folder: string): Promise<RegistryIndex> {
  const indexFile = join(folder, INDEX_FILE)
  if (!existsSync(indexFile)) return EMPTY_INDEX

  const index = await readIndex(openRegistry(folder))
  const [rejected] = index.rejected
  if (!rejected) return index
  throw new Error(
    `${indexFile}: ${toLabel(rejected)}: ${rejected.reason}. Restore or delete this entry`,
  )
}

/**
 * Writes the package of an entry, unless the registry has it already. Returns whether it was
 * written.
 */
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
 * Writes the file names in a folder to the disk. After that, a renamed file has its new name even
 * after a power failure or the removal of a USB stick.
 */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}
