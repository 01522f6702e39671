import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createFolder } from './create-folder.ts'

/** Mode of a folder that only its owner can enter. */
const PRIVATE_MODE = 0o700
/** Mode of the folders above it. */
const PUBLIC_MODE = 0o777
/** Mode of a folder that root creates for services that run as different users of one group. */
const SHARED_MODE = 0o770
const PERMISSION_BITS = 0o777
/** Every user may create, rename and delete entries in the folder. */
const WRITABLE_BY_ALL = 0o002
/** Users may rename and delete only their own entries, as in /tmp. */
const STICKY = 0o1000
const ROOT_UID = 0
const ROOT_GID = 0

/**
 * Creates a folder for decoded frames that only this user can enter. Accepts an existing folder if
 * this user has created it, or if root has created it for the group of this user.
 *
 * The parent may be writable for everybody, as /dev/shm is. A user who owns the folder could read
 * and change every frame. Throws an `Error` with the reason if another user could have created the
 * folder, or could replace it.
 */
export async function createPrivateFolder(folder: string): Promise<void> {
  if (!(await createPrivate(folder))) await assertPrivate(folder)
}

/**
 * Creates a folder for decoded frames that only root and a group can enter, or accepts one that
 * belongs to root, such as a mount point. The caller must be root. Throws an `Error` with the
 * reason if another user owns the folder, or could replace it.
 */
export async function createSharedFolder(folder: string, gid: number): Promise<void> {
  await createPrivate(folder)
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => {
    throw createRejection(folder, 'it is not a folder')
  })
  try {
    const problem = describeForeignFolder(await handle.stat(), ROOT_UID)
    if (problem) throw createRejection(folder, problem)
    await handle.chown(ROOT_UID, gid)
    await handle.chmod(SHARED_MODE)
  } finally {
    await handle.close()
  }
}

/** Creates a folder that only this user can enter. Returns false if it exists already. */
async function createPrivate(folder: string): Promise<boolean> {
  const parent = dirname(folder)
  createFolder(parent, PUBLIC_MODE)
  await assertNotReplaceable(await realpath(parent))
  try {
    await mkdir(folder, { mode: PRIVATE_MODE })
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
  const isWritableByAll = (mode & WRITABLE_BY_ALL) !== 0
  const isSticky = (mode & STICKY) !== 0
  if (isWritableByAll && !isSticky) {
    throw new Error(
      `decoded frames cannot be stored below ${folder}, where every user can replace folders: ` +
        `run chmod +t ${folder}, or set EYRIE_RING to another folder`,
    )
  }

  const parent = dirname(folder)
  const isRoot = parent === folder
  if (!isRoot) await assertNotReplaceable(parent)
}

/**
 * Throws an `Error` unless a path is a folder, not a link to one, that this user owns and no
 * other user can enter.
 */
async function assertPrivate(folder: string): Promise<void> {
  const status = await lstat(folder)
  if (isSharedByRoot(status)) return
  const problem = describeForeignFolder(status, process.geteuid?.()) ?? describeAccess(status)
  if (problem) throw createRejection(folder, problem)
}

/** Whether root has created a folder for the group of this user, which no ordinary user can do. */
function isSharedByRoot(status: Stats): boolean {
  const isOfThisGroup = status.gid !== ROOT_GID && status.gid === process.getegid?.()
  const isFolderOfRoot = status.isDirectory() && status.uid === ROOT_UID
  return isOfThisGroup && isFolderOfRoot && getPermissions(status) === SHARED_MODE
}

/** Describes why other users can enter a folder; undefined if they cannot. */
function describeAccess(status: Stats): string | undefined {
  const permissions = getPermissions(status)
  if (permissions === PRIVATE_MODE) return undefined
  return `other users can enter it (mode ${permissions.toString(8)})`
}

const getPermissions = ({ mode }: Stats) => mode & PERMISSION_BITS

/** Describes why a path is not a folder of the user `uid`; undefined if it is one. */
function describeForeignFolder(status: Stats, uid: number | undefined): string | undefined {
  if (!status.isDirectory()) return 'it is not a folder'
  return status.uid === uid ? undefined : `it belongs to user ${status.uid}`
}

function createRejection(folder: string, problem: string): Error {
  return new Error(
    `decoded frames cannot be stored in ${folder}, because ${problem}: ` +
      'delete it, or set EYRIE_RING to another folder',
  )
}
