import { lstat, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

// The folders of models are renamed as a whole, so that readers never find half a model. Folders
// that begin with a dot are no models. A version that is replaced is renamed first, and deleted
// when the new one is in place: after a crash or power failure at any moment, one of both is
// complete.

/** Prefix of a version that is being replaced. */
const REPLACED = '.old-'
/** Prefix of a model that is being deleted. */
const REMOVED = '.removed-'

/**
 * Moves the complete model in the folder `draft` into place, and deletes the version that it
 * replaces. If this fails, the previous version remains.
 */
export async function putInPlace(root: string, name: string, draft: string): Promise<void> {
  await syncFolder(draft)
  await recoverModel(root, name)
  const folder = join(root, name)
  const replaced = join(root, REPLACED + name)
  if (await exists(folder)) await rename(folder, replaced)
  try {
    await rename(draft, folder)
  } catch (error) {
    await recoverModel(root, name)
    throw error
  }
  // The new version must survive a power failure before the previous one is deleted.
  await syncFolder(root)
  await rm(replaced, { recursive: true, force: true })
}

/** Deletes a model. */
export async function removeFolder(root: string, name: string): Promise<void> {
  const removed = join(root, REMOVED + name)
  await rm(removed, { recursive: true, force: true })
  await rename(join(root, name), removed)
  await syncFolder(root)
  await rm(removed, { recursive: true, force: true })
}

/** Restores the models whose replacement was interrupted, and finishes interrupted deletions. */
export async function recoverModels(root: string): Promise<void> {
  if (!(await exists(root))) return
  for (const name of await readdir(root)) {
    if (name.startsWith(REPLACED)) await recoverModel(root, name.slice(REPLACED.length))
    if (name.startsWith(REMOVED)) await rm(join(root, name), { recursive: true, force: true })
  }
}

/** Restores the version that is being replaced, or deletes it if the new one is in place. */
async function recoverModel(root: string, name: string): Promise<void> {
  const folder = join(root, name)
  const replaced = join(root, REPLACED + name)
  if (!(await exists(replaced))) return
  if (await exists(folder)) await rm(replaced, { recursive: true, force: true })
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
