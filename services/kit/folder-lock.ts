import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'

/** What `flock` exits with if another process holds the lock. */
const IS_LOCKED = 1

/**
 * Locks a folder for this process and returns a function that releases the lock. Throws an `Error`
 * if another process holds the lock, also one in another container that shares the folder.
 *
 * The lock belongs to the open folder (man 2 flock): the program `flock` inherits the
 * folder and locks it, this process keeps it open, and the kernel releases the lock even if
 * the process is killed.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
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
  const child = spawn('flock', ['--nonblock', '--exclusive', '3'], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
  })
  const ended = Promise.all([once(child, 'close'), text(child.stderr!)])
  const [[code], reason] = await ended.catch(cause => {
    throw new Error('the command flock is missing: apt-get install util-linux', { cause })
  })
  if (code === 0) return
  if (code === IS_LOCKED) {
    throw new Error(
      `${folder} is in use by another process: stop it, or set EYRIE_DATA to another folder`,
    )
  }
  throw new Error(
    `${folder} cannot be locked (${reason.trim()}): set EYRIE_DATA to a folder on a disk of this machine`,
  )
}
