import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const MARKER = 'engine'

/**
 * Makes sure that the folder of the frame rings exists until the returned function is called. Inference workers are granted
 * this very folder when they start: they could not read rings in one that the media service creates later. A file marks
 * the folder as used, so that the media service leaves it when it stops. Throws an `Error` if the folder cannot be created.
 */
export async function holdRingFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o750 }).catch((cause: Error) => {
    throw new Error(
      `failed to create the folder of frame rings: ${cause.message}. Set EYRIE_RING to a folder on tmpfs that the engine may write to`,
      { cause },
    )
  })
  const marker = join(folder, MARKER)
  // A folder that belongs to another user is held by its owner.
  await writeFile(marker, '').catch(() => {})

  return async () => {
    await rm(marker, { force: true }).catch(() => {})
    // Fails while the media service uses the folder, and removes it later.
    await rmdir(folder).catch(() => {})
  }
}
