import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Mode of a folder that root creates for services that run as different users of one group. */
const SHARED_MODE = 0o770

/**
 * Creates a folder for decoded frames that only this user can enter. Accepts an existing folder if
 * this user has created it, or if root has created it for the group of this user.
 *
 * The parent may be writable for everybody, as /dev/shm is. A user who owns the folder could read
 * and change every frame. Throws an `Error` with the reason if another user could have created the
 * folder, or could replace it.
 */
export async function createPrivateFolder(folder: string): Promise<void> {
  if (!(await createFolder(folder))) await assertPrivate(folder)
}

/**
 * Creates a folder for decoded frames that only root and a group can enter, or accepts one that
 * belongs to root, such as a mount point. The caller must be root. Throws an `Error` as
 * `createPrivateFolder` does.
 */
export async function createSharedFolder(folder: string, gid: number): Promise<void> {
  await createFolder(folder)
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => {
    throw createRejection(folder, 'it is not a folder')
  })
  try {
    const problem = describeForeignFolder(await handle.stat(), 0)
    if (problem) throw createRejection(folder, problem)
    await handle.chown(0, gid)
    await handle.chmod(SHARED_MODE)
  } finally {
    await handle.close()
  }
}

/** Creates a folder that only this user can enter. Returns false if it exists already. */
async function createFolder(folder: string): Promise<boolean> {
  const parent = dirname(folder)
  await mkdir(parent, { recursive: true })
  await assertNotReplaceable(await realpath(parent))
  try {
    await mkdir(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/**
 * Throws an `Error` if users can rename entries of others in this folder, or in a folder above it.
 */
async function assertNotReplaceable(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  const isSticky = (mode & 0o1000) !== 0
  if ((mode & 0o002) !== 0 && !isSticky) {
    throw new Error(
      `decoded frames cannot be stored below ${folder}, where every user can replace folders: run chmod +t ${folder}, or set EYRIE_RING to another folder`,
    )
  }
  if (folder !== dirname(folder)) await assertNotReplaceable(dirname(folder))
}

/**
 * Throws an `Error` unless a path is a folder, not a link to one, that this user owns and no
 * other user can enter.
 */
async function assertPrivate(folder: string): Promise<void> {
  const status = await lstat(folder)
  if (isSharedByRoot(status)) return
  const mode = status.mode & 0o777
  const problem =
    describeForeignFolder(status, process.geteuid?.()) ??
    (mode !== 0o700 && `other users can enter it (mode ${mode.toString(8)})`)
  if (problem) throw createRejection(folder, problem)
}

/** Whether root has created a folder for the group of this user, which no ordinary user can do. */
function isSharedByRoot(status: Stats): boolean {
  const isOfGroup = status.gid !== 0 && status.gid === process.getegid?.()
  return (
    isOfGroup && status.uid === 0 && status.isDirectory() && (status.mode & 0o777) === SHARED_MODE
  )
}

function describeForeignFolder(status: Stats, uid: number | undefined): string | undefined {
  if (!status.isDirectory()) return 'it is not a folder'
  return status.uid === uid ? undefined : `it belongs to user ${status.uid}`
}

const createRejection = (folder: string, problem: string) =>
  new Error(
    `decoded frames cannot be stored in ${folder}, because ${problem}: delete it, or set EYRIE_RING to another folder`,
  )
