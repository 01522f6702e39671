import { randomBytes } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { hash, verify } from '@node-rs/argon2'
import { Semaphore } from 'async-mutex'

/**
 * Argon2id with 19 MiB (`memoryCost` in KiB), two passes and one lane (OWASP, Password
 * Storage Cheat Sheet).
 */
const ARGON_OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const MAX_CONCURRENT_HASHES = 2
const MAX_WAITING_CALLS = 64

/**
 * Hashes passwords. The number of concurrent hashes is limited to leave memory and CPU time
 * for video processing.
 */
export interface Passwords {
  /** Resolves to a hash in encoded form (`$argon2id$…`). */
  hash(password: string): Promise<string>
  /**
   * Resolves to whether a password matches an encoded hash. Without a hash it resolves to false
   * after the same time, so that the time does not reveal whether a user exists.
   */
  verify(encoded: string | undefined, password: string): Promise<boolean>
  /** Number of hashes computed so far. */
  readonly hashCount: number
}

/**
 * Creates the functions. They throw `EyrieError` (`unavailable`) while too many calls are waiting.
 */
export async function createPasswords(): Promise<Passwords> {
  /**
   * The hash of a random password. It is verified if a user has no hash, so that this
   * takes the same time.
   */
  const placeholder = await hash(randomBytes(16), ARGON_OPTIONS)
  const slots = new Semaphore(MAX_CONCURRENT_HASHES)
  let waiting = 0
  let computed = 0

  async function runInSlot<T>(work: () => Promise<T>): Promise<T> {
    const mustWait = slots.isLocked()
    if (mustWait && waiting >= MAX_WAITING_CALLS) {
      throw new EyrieError(
        'unavailable',
        'too many users are signing in: try again in a few seconds',
      )
    }
    if (mustWait) waiting += 1
    return slots.runExclusive(() => {
      if (mustWait) waiting -= 1
      computed += 1
      return work()
    })
  }

  return {
    hash: password => runInSlot(() => hash(password, ARGON_OPTIONS)),
    async verify(encoded, password) {
      const stored = encoded?.startsWith('$argon2') ? encoded : undefined
      const matches = await runInSlot(() => verify(stored ?? placeholder, password))
      return matches && stored !== undefined
    },
    get hashCount() {
      return computed
    },
  }
}
