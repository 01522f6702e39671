import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, realpathSync } from 'node:fs'
import { createServer } from 'node:net'

/**
 * Makes a folder this process's own and returns what gives it back. The claim is a socket in Linux's abstract
 * namespace, so that it ends with the process however that dies. Throws if another process holds it.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex')
  const claim = createServer()
  claim.listen(`\0eyrie-${name}`)
  try {
    await once(claim, 'listening')
  } catch (cause) {
    throw new Error(`${folder} is in use by another process: stop it, or set EYRIE_DATA to another folder`, {
      cause,
    })
  }
  claim.unref()
  return () => claim.close()
}
