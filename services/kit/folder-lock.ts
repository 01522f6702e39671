import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, realpathSync } from 'node:fs'
import { createServer } from 'node:net'

/**
 * Locks a folder for this process and returns a function that releases the lock. Throws an `Error` if another process
 * holds the lock. The lock is a Unix socket in Linux's abstract namespace (man 7 unix), so the kernel releases it even if
 * the process is killed.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex')
  const lock = createServer()
  lock.listen(`\0eyrie-${name}`)
  try {
    await once(lock, 'listening')
  } catch (cause) {
    throw new Error(`${folder} is in use by another process: stop it, or set EYRIE_DATA to another folder`, {
      cause,
    })
  }
  lock.unref()
  return () => lock.close()
}
