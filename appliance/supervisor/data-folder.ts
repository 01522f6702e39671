import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { FolderInUseError, lockFolder } from '@eyrie/kit'
import { createFolder } from '@eyrie/kit/create-folder'

/** Mode of a new data folder, which other users cannot enter. */
export const DATA_MODE = 0o750

/**
 * Locks a data folder for this process. Returns a function that unlocks it. Throws an `Error` if
 * another supervisor is running on the folder, or if it cannot be created. The kernel releases the
 * lock of a process that was killed: its pid alone may belong to another supervisor after the
 * machine has started again.
 */
export async function lockDataFolder(data: string): Promise<() => void> {
  const file = join(data, 'supervisor.pid')
  createFolder(data, DATA_MODE)
  try {
    accessSync(data, constants.R_OK | constants.W_OK)
    const unlock = await lockFolder(data)
    recordPid(file)
    return () => {
      rmSync(file, { force: true })
      unlock()
    }
  } catch (cause) {
    if (cause instanceof FolderInUseError) throw nameSupervisor(cause, data, file)
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause
    throw new Error(
      `no permission to write to ${data}, which belongs to another user: start Eyrie as root, or give it to this user (sudo chown -R ${process.geteuid?.()} ${data})`,
      { cause },
    )
  }
}

/** Records the pid for `nameSupervisor`, unless the disk is full: Eyrie starts without it. */
function recordPid(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error
  }
}

/**
 * Adds the pid in the file to the error, if such a process exists. The lock does not prove that it
 * is the one: the file may remain from a supervisor that was killed.
 */
function nameSupervisor(error: Error, data: string, file: string): Error {
  const pid = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const isRunning = /^\d+$/.test(pid) && existsSync(`/proc/${pid}`)
  return isRunning
    ? new Error(
        `${data} is in use by another process, probably ${pid}: stop it, or set EYRIE_DATA to another folder`,
        { cause: error },
      )
    : error
}

/**
 * Returns a secret of the appliance from a file that only its owner can read. Generates the
 * secret at the first start.
 */
export function getOrCreateSecret(data: string, name: string): string {
  // A power failure can leave an empty file. An empty token would grant access to every local user.
  const existing = readSecret(data, name)
  if (existing) return existing
  const secret = randomBytes(32).toString('base64url')
  storeSecret(data, name, secret)
  return secret
}

/** Stores a secret of the appliance in a file that only its owner can read. */
export function storeSecret(data: string, name: string, secret: string): void {
  if (readSecret(data, name) === secret) return
  const folder = join(data, 'secrets')
  const file = join(folder, name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Services can create files in the folder: the new file must not be a link of theirs.
  rmSync(`${file}.new`, { force: true })
  writeFileSync(`${file}.new`, `${secret}\n`, { flag: 'wx', mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** Returns a stored secret. Returns an empty string if it does not exist. */
function readSecret(data: string, name: string): string {
  const file = join(data, 'secrets', name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}
