import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { createFolder } from './create-folder.ts'

/** Descriptor at which `flock` inherits the folder, the first one after stderr. */
const FOLDER_FD = 3
/** Exit code of `flock` if another process holds the lock. */
const IS_LOCKED = 1

/** Another process holds the lock of a folder. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError'
}

/**
 * Locks a folder for this process and returns a function that releases the lock. Throws
 * `FolderInUseError` if another process holds the lock, also one in another container that shares
 * the folder.
 *
 * The lock belongs to the open folder (man 2 flock). This process opens the folder, and the program
 * `flock` inherits and locks it. When this process ends, the kernel closes the folder and releases
 * the lock, even if the process is killed.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  createFolder(folder, 0o700)
  const descriptor = openSync(folder, 'r')
  try {
    await lockDescriptor(descriptor, folder)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  let isLocked = true
  return () => {
    if (isLocked) closeSync(descriptor)
    isLocked = false
  }
}

async function lockDescriptor(descriptor: number, folder: string): Promise<void> {
  const child = spawn('flock', ['--nonblock', '--exclusive', String(FOLDER_FD)], {
    env: { PATH: process.env.PATH },
    // The last entry is `FOLDER_FD`.
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
  })
  const ended = Promise.all([once(child, 'close'), text(child.stderr!)])
  const [[code], errors] = await ended.catch(cause => {
    throw new Error('the command flock is missing: apt-get install util-linux', { cause })
  })
  if (code === 0) return
  if (code === IS_LOCKED) {
    throw new FolderInUseError(
      `${folder} is in use by another process: stop it, or set EYRIE_DATA to another folder`,
    )
  }
  throw new Error(
    `${folder} cannot be locked (${errors.trim()}): set EYRIE_DATA to a folder on a disk of this machine`,
  )
}
