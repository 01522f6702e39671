import { randomUUID } from 'node:crypto'
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

// The folders of models are renamed as a whole, so that readers never find half a model. Folders
// that begin with a dot are no models. A version that is replaced is renamed first, and deleted
// when the new one is in place: after a crash or power failure at any moment, one of both is
// complete.

/** Prefix of a model that is being written. */
const DRAFT = '.new-'
/** Prefix of a version that is being replaced. */
const REPLACED = '.old-'
/** Prefix of a model that is being deleted. */
const REMOVED = '.removed-'
/** A draft that is older is left over from a crash. Writing a model takes seconds. */
const MAX_DRAFT_AGE_MS = 3_600_000
/** Maximum number of attempts to put a model in place. */
const MAX_ATTEMPTS = 10

/**
 * Creates a folder in which a model is written before it is put in place. Each has a name of its
 * own, because several processes may add a model of one name at the same time.
 */
export async function createDraft(root: string, name: string): Promise<string> {
  const draft = join(root, `${DRAFT}${name}-${randomUUID()}`)
  await mkdir(draft, { recursive: true })
  return draft
}

/**
 * Moves the complete model in the folder `draft` into place, and deletes the version that it
 * replaces. If this fails, the previous version remains.
 */
export async function putInPlace(root: string, name: string, draft: string): Promise<void> {
  await syncFolder(draft)
  await replaceFolder(root, name, draft)
  // The new version must survive a power failure before the previous one is deleted.
  await syncFolder(root)
  try {
    await recoverModel(root, name)
  } catch (error) {
    // Another process replaces the model: it deletes the version that it replaces.
    if (!isRace(error)) throw error
  }
}

/**
 * Renames the previous version, and then `draft`. Tries again if another process has renamed a
 * version of the model in between.
 */
async function replaceFolder(root: string, name: string, draft: string): Promise<void> {
  const folder = join(root, name)
  for (let attempt = 1; ; attempt++) {
    try {
      await recoverModel(root, name)
      if (await exists(folder)) await rename(folder, join(root, REPLACED + name))
      return await rename(draft, folder)
    } catch (error) {
      if (isRace(error) && attempt < MAX_ATTEMPTS) continue
      await recoverModel(root, name)
      throw error
    }
  }
}

/** Whether another process has renamed a version of the model in between. */
function isRace(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTEMPTY'
}

/**
 * Deletes the folder of a model or of one of its versions. Renamed first, because another process
 * could otherwise move a version into the folder while its files are being deleted.
 */
export async function removeFolder(root: string, name: string): Promise<void> {
  const removed = join(root, `${REMOVED}${name}-${randomUUID()}`)
  await rename(join(root, name), removed)
  await syncFolder(root)
  await rm(removed, { recursive: true, force: true })
}

/**
 * Restores the models whose replacement was interrupted, finishes interrupted deletions, and
 * deletes abandoned drafts.
 */
export async function recoverModels(root: string): Promise<void> {
  if (!(await exists(root))) return
  for (const name of await readdir(root)) {
    if (name.startsWith(REPLACED)) await recoverModel(root, name.slice(REPLACED.length))
    const isAbandoned = name.startsWith(DRAFT) && (await isOldDraft(join(root, name)))
    if (name.startsWith(REMOVED) || isAbandoned) {
      await rm(join(root, name), { recursive: true, force: true })
    }
  }
}

async function isOldDraft(draft: string): Promise<boolean> {
  // Another process may have put it in place in the meantime.
  const status = await stat(draft).catch(() => undefined)
  return status !== undefined && Date.now() - status.mtimeMs > MAX_DRAFT_AGE_MS
}

/** Restores the version that is being replaced, or deletes it if the new one is in place. */
async function recoverModel(root: string, name: string): Promise<void> {
  const folder = join(root, name)
  const replaced = join(root, REPLACED + name)
  if (!(await exists(replaced))) return
  if (await exists(folder)) await removeFolder(root, REPLACED + name)
  else await rename(replaced, folder)
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** Syncs a folder, so that the names in it survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
