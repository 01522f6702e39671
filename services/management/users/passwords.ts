import { randomBytes } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { hash, verify } from '@node-rs/argon2'
import { Semaphore } from 'async-mutex'

/** Argon2id with 19 MiB, two passes and one lane (OWASP, Password Storage Cheat Sheet). */
const argonOptions = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const MAX_CONCURRENT = 2
const MAX_WAITING = 64

/** Hashes passwords, a few at a time, so that sign-in leaves memory and processor time to the cameras. */
export interface Passwords {
  /** Resolves to a hash in Argon2's encoded form. */
  hash(password: string): Promise<string>
  /** Resolves to whether the password matches the hash. Without a hash it takes the same time and resolves to false. */
  verify(encoded: string | undefined, password: string): Promise<boolean>
  /** Number of hashes computed so far. */
  readonly computed: number
}

/** The functions throw `EyrieError` (`unavailable`) while too many calls are waiting. */
export async function createPasswords(): Promise<Passwords> {
  const placeholder = await hash(randomBytes(16), argonOptions)
  const slots = new Semaphore(MAX_CONCURRENT)
  let waiting = 0
  let computed = 0

  async function runInSlot<T>(work: () => Promise<T>): Promise<T> {
    const mustWait = slots.isLocked()
    if (mustWait && waiting >= MAX_WAITING)
      throw new EyrieError('unavailable', 'too many users are signing in: try again in a few seconds')
    if (mustWait) waiting += 1
    return slots.runExclusive(() => {
      if (mustWait) waiting -= 1
      computed += 1
      return work()
    })
  }

  return {
    hash: password => runInSlot(() => hash(password, argonOptions)),
    async verify(encoded, password) {
      const stored = encoded?.startsWith('$argon2') ? encoded : undefined
      const matches = await runInSlot(() => verify(stored ?? placeholder, password))
      return matches && stored !== undefined
    },
    get computed() {
      return computed
    },
  }
}
