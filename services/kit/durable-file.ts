import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file atomically and durably: after a crash or power failure, the file has either the old
 * or the new content. Only the owner can read the file.
 */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } catch (error) {
    // Part of a file would occupy the last space of a full disk.
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncFolder(dirname(path))
}

/** Like `writeDurably`, for small files of callers that cannot wait. */
export function writeDurablySync(path: string, content: string): void {
  const temporary = `${path}.new`
  try {
    writeFileSync(temporary, content, { mode: 0o600, flush: true })
  } catch (error) {
    // Part of a file would occupy the last space of a full disk.
    rmSync(temporary, { force: true })
    throw error
  }
  renameSync(temporary, path)
  syncFolderSync(dirname(path))
}

/**
 * Writes all bytes at a position, or throws. A single `write` may write only part of the bytes,
 * such as on a full disk.
 */
export async function writeAll(
  file: FileHandle,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(
      bytes,
      written,
      bytes.length - written,
      position + written,
    )
    written += bytesWritten
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

/** Like `syncFolder`, for callers that cannot wait. */
export function syncFolderSync(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
