import { rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivateFolder } from './private-folder.ts'

/**
 * Makes sure that a private folder, such as that of the frame rings, exists until the returned
 * function is called. A launched program is granted this very folder when it starts: it could not
 * use one that is created later under the same name. A file with the name of the holder marks the
 * folder as used, so that other services leave it when they stop. Throws an `Error` if another user
 * could have created the folder. A mount point that this process may only read exists in any case.
 */
export async function holdFolder(folder: string, holder: string): Promise<() => Promise<void>> {
  await createPrivateFolder(folder)
  const marker = join(folder, holder)
  const isHeld = await writeFile(marker, '').then(
    () => true,
    error => {
      if (error.code !== 'EROFS') throw error
      return false
    },
  )
  if (!isHeld) return async () => {}

  return async () => {
    await rm(marker, { force: true })
    // Fails while another service uses the folder, which then removes it.
    await rmdir(folder).catch(() => {})
  }
}
