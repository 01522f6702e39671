import { rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivateFolder } from '@eyrie/kit/private-folder'

const MARKER = 'engine'

/**
 * Makes sure that the folder of the frame rings exists until the returned function is called. Inference workers are granted
 * this very folder when they start: they could not read rings in one that the media service creates later. A file marks
 * the folder as used, so that the media service leaves it when it stops. Throws an `Error` if another user could have created
 * the folder.
 */
export async function holdRingFolder(folder: string): Promise<() => Promise<void>> {
  await createPrivateFolder(folder)
  const marker = join(folder, MARKER)
  await writeFile(marker, '')

  return async () => {
    await rm(marker, { force: true })
    // Fails while the media service uses the folder, which then removes it.
    await rmdir(folder).catch(() => {})
  }
}
