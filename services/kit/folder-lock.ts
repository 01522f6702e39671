import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, realpathSync } from 'node:fs'
import { createServer } from 'node:net'

/**
 * Locks a folder for this process and returns a function that releases the lock. The lock is a socket in the abstract
 * namespace of Linux, so it is released even if the process is killed. Throws if another process holds the lock.
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
