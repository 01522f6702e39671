import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The programs that start a supervisor. */
const SUPERVISOR = /appliance\/(main|engine-only)\.ts/

/**
 * Locks a data folder for this process. Returns a function that unlocks it. Throws an `Error` if
 * another supervisor is running on the folder.
 */
export function lockDataFolder(data: string): () => void {
  const file = join(data, 'supervisor.pid')
  mkdirSync(data, { recursive: true, mode: 0o750 })
  const owner = findRunningOwner(file)
  if (owner) {
    throw new Error(
      `Eyrie is already running on ${data} (process ${owner}): stop it, or set EYRIE_DATA to another folder`,
    )
  }
  try {
    writeFileSync(file, `${process.pid}\n`)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause
    throw new Error(
      `no permission to write to ${data}, which belongs to another user: start Eyrie as root, or give it to this user (sudo chown -R ${process.geteuid?.()} ${data})`,
      { cause },
    )
  }
  return () => rmSync(file, { force: true })
}

/**
 * Returns the pid of the supervisor that holds the lock. Its command line is checked, because
 * the kernel reuses pids.
 */
function findRunningOwner(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'))
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return SUPERVISOR.test(commandLine) && pid !== process.pid ? pid : undefined
  } catch {
    return undefined
  }
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
