import { lstat, mkdir, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder that only this user can enter, or accepts one that this user has created so before. Other users of the
 * machine may write to the parent, as to /dev/shm: a folder of theirs would let them read and change every decoded frame.
 * Throws an `Error` with the reason if another user could have created the folder, or could replace it.
 */
export async function createPrivateFolder(folder: string): Promise<void> {
  const parent = dirname(folder)
  await mkdir(parent, { recursive: true })
  await assertNotReplaceable(await realpath(parent))
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await assertPrivate(folder)
  }
}

/** Throws an `Error` if users other than the owner of an entry can rename it, in the folder or in a folder above it. */
async function assertNotReplaceable(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  const isSticky = (mode & 0o1000) !== 0
  if ((mode & 0o002) !== 0 && !isSticky)
    throw new Error(
      `decoded frames cannot be stored below ${folder}, where every user can replace folders: run chmod +t ${folder}, or set EYRIE_RING to another folder`,
    )
  if (folder !== dirname(folder)) await assertNotReplaceable(dirname(folder))
}

/** Throws an `Error` unless a path is a folder, not a link to one, that this user owns and no other user can enter. */
async function assertPrivate(folder: string): Promise<void> {
  const status = await lstat(folder)
  const mode = status.mode & 0o777
  const problem = !status.isDirectory()
    ? 'it is not a folder'
    : status.uid !== process.geteuid?.()
      ? `it belongs to user ${status.uid}`
      : mode !== 0o700 && `other users can enter it (mode ${mode.toString(8)})`
  if (problem)
    throw new Error(
      `decoded frames cannot be stored in ${folder}, because ${problem}: delete it, or set EYRIE_RING to another folder`,
    )
}
