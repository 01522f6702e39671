import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
} from 'node:fs'
import type { OwnedFolder, Owner } from './data-ownership.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** A file or folder whose owner cannot be changed. */
export interface OwnerFailure {
  path: string
  reason: string
}

/**
 * Gives folders to their owners, and creates missing ones. Returns the files and folders whose
 * owner could not be changed.
 *
 * A service may have replaced entries of its folder by links to files of others. Links are
 * therefore not followed, and each entry is opened before it is inspected and changed. The entries
 * of a folder are changed before the folder itself. A subfolder that has the right owner is
 * therefore complete, and is not entered, which keeps the start fast.
 */
export function applyOwners(folders: readonly OwnedFolder[]): OwnerFailure[] {
  const failures: OwnerFailure[] = []
  for (const folder of folders) {
    try {
      applyOwner(folder, failures)
    } catch (error) {
      failures.push({ path: folder.path, reason: describeFailure(error, folder) })
    }
  }
  return failures
}

function applyOwner(
  { path, owner, mode, findEntryOwner }: OwnedFolder,
  failures: OwnerFailure[],
): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    const { dev } = fstatSync(descriptor)
    if (findEntryOwner) changeEntries({ descriptor, dev, path, failures }, findEntryOwner)
    fchownSync(descriptor, owner.uid, owner.gid)
    fchmodSync(descriptor, mode)
  } finally {
    closeSync(descriptor)
  }
}

function describeFailure(error: unknown, { path, owner }: OwnedFolder): string {
  const { message } = error as Error
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  return isLink ? `it is a link: run chown -R ${owner.uid}:${owner.gid} ${path}/` : message
}

/**
 * Gives a file of the supervisor to an owner, so that the services can read it. Does nothing if it
 * is a link or missing.
 */
export function shareFile(path: string, { uid, gid }: Owner, mode: number): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    fchownSync(file, uid, gid)
    fchmodSync(file, mode)
  } finally {
    closeSync(file)
  }
}

/** An open folder whose entries are changed. */
interface OpenFolder {
  descriptor: number
  /**
   * The device of the owned folder. File systems that are mounted below it, such as a disk with
   * videos, are left alone.
   */
  dev: number
  path: string
  /** Receives the entries whose owner could not be changed. */
  failures: OwnerFailure[]
}

/**
 * Changes the owner of each file and folder in a folder, and of everything below them. Other
 * entries keep their owners.
 */
function changeEntries(parent: OpenFolder, findOwner: (name: string) => Owner): void {
  // As buffers, because names need not be valid UTF-8.
  const folder = `/proc/self/fd/${parent.descriptor}`
  const entries = readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })
  for (const entry of entries) {
    if (!entry.isDirectory() && !entry.isFile()) continue
    const name = String(entry.name)
    const path = `${parent.path}/${name}`
    try {
      changeEntry(parent, entry.name, path, findOwner(name))
    } catch (error) {
      parent.failures.push({ path, reason: (error as Error).message })
    }
  }
}

function changeEntry(parent: OpenFolder, name: Buffer, path: string, owner: Owner): void {
  const openPath = Buffer.concat([Buffer.from(`/proc/self/fd/${parent.descriptor}/`), name])
  // O_NONBLOCK: the entry may have become a pipe in the meantime.
  const descriptor = openSync(openPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const status = fstatSync(descriptor)
    if (isOwnedBy(status, owner) || status.dev !== parent.dev) return
    // A service may have made a hard link to a file of another one.
    if (status.isFile() && status.nlink > 1) {
      parent.failures.push({ path, reason: 'it has another name (hard link)' })
      return
    }
    if (status.isDirectory()) changeEntries({ ...parent, descriptor, path }, () => owner)
    fchownSync(descriptor, owner.uid, owner.gid)
  } finally {
    closeSync(descriptor)
  }
}

const isOwnedBy = (status: Stats, { uid, gid }: Owner) => status.uid === uid && status.gid === gid
