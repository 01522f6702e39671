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
 * Gives folders to their owners, and creates missing ones. Returns the entries that keep their owner. A service may
 * have replaced what is in its folder by links to files of others: nothing is followed, and each entry is opened before it is
 * inspected and changed. Entries are changed before the folder that contains them, so that a folder with the right owner is
 * complete: only its own entries are inspected, which keeps the start fast.
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

function applyOwner({ path, owner, mode, findEntryOwner }: OwnedFolder, failures: OwnerFailure[]): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const folder = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    const { dev } = fstatSync(folder)
    const fail = (entry: string, reason: string) => failures.push({ path: `${path}${entry}`, reason })
    if (findEntryOwner) changeEntries({ folder, dev, path: '', fail }, findEntryOwner)
    fchownSync(folder, owner.uid, owner.gid)
    fchmodSync(folder, mode)
  } finally {
    closeSync(folder)
  }
}

function describeFailure(error: unknown, { path, owner }: OwnedFolder): string {
  const { message } = error as Error
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
  return isLink ? `it is a link: run chown -R ${owner.uid}:${owner.gid} ${path}/` : message
}

/** Lets the services read a file of the supervisor, unless it is a link. */
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
  folder: number
  /** The file system. Others that are mounted below, such as a disk with videos, are left alone. */
  dev: number
  /** Path below the owned folder. */
  path: string
  fail(entry: string, reason: string): void
}

function changeEntries(parent: OpenFolder, findOwner: (name: string) => Owner): void {
  // Names need not be valid UTF-8.
  const entries = readdirSync(`/proc/self/fd/${parent.folder}`, { withFileTypes: true, encoding: 'buffer' })
  for (const entry of entries) {
    if (!entry.isDirectory() && !entry.isFile()) continue
    const name = String(entry.name)
    const path = `${parent.path}/${name}`
    try {
      changeEntry({ ...parent, path }, entry.name, findOwner(name))
    } catch (error) {
      parent.fail(path, (error as Error).message)
    }
  }
}

function changeEntry(parent: OpenFolder, name: Buffer, owner: Owner): void {
  const path = Buffer.concat([Buffer.from(`/proc/self/fd/${parent.folder}/`), name])
  // O_NONBLOCK: the entry may have become a pipe in the meantime.
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const status = fstatSync(descriptor)
    if (isOwnedBy(status, owner) || status.dev !== parent.dev) return
    // A name in another folder may be the same file, which then belongs to another service.
    if (status.isFile() && status.nlink > 1) {
      parent.fail(parent.path, 'it has another name (hard link)')
      return
    }
    if (status.isDirectory()) changeEntries({ ...parent, folder: descriptor }, () => owner)
    fchownSync(descriptor, owner.uid, owner.gid)
  } finally {
    closeSync(descriptor)
  }
}

const isOwnedBy = (status: Stats, { uid, gid }: Owner) => status.uid === uid && status.gid === gid
