import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces the content of a file atomically: after a crash at any time the file has either the old or the new content.
 * Only the owner can read the file.
 */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncFolder(dirname(path))
}

/** Writes all bytes at a position, or throws. On a full disk, a single `write` may write only a part of them. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** Syncs a folder, so that creations, renames and deletions in it survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
