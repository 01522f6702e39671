import { randomBytes } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { hash, verify } from '@node-rs/argon2'

/** Argon2id with 19 MiB, two passes and one lane (OWASP, Password Storage Cheat Sheet). */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const AT_ONCE = 2
const MOST_WAITING = 64

/** Hashes passwords: a few at a time, so that neither memory nor processor is taken from cameras. */
export interface Passwords {
  /** In Argon2's encoded form. */
  hash(password: string): Promise<string>
  /** Whether it is the password of this hash. Where there is none, the answer no takes the same work. */
  verify(encoded: string | undefined, password: string): Promise<boolean>
  /** How many hashes have been computed. */
  readonly computed: number
}

/** Its functions throw EyrieError `unavailable` when too many wait already. */
export async function createPasswords(): Promise<Passwords> {
  const nobodys = await hash(randomBytes(16), cost)
  const waiting: (() => void)[] = []
  let running = 0
  let computed = 0

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting.length >= MOST_WAITING)
      throw new EyrieError(
        'unavailable',
        'too many people are signing in at the moment: try again in a few seconds',
      )
    if (running >= AT_ONCE) await new Promise<void>(resolve => waiting.push(resolve))
    else running += 1
    try {
      computed += 1
      return await work()
    } finally {
      // Whoever waits takes over the place.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }

  return {
    hash: password => inTurn(() => hash(password, cost)),
    async verify(encoded, password) {
      const known = encoded?.startsWith('$argon2') ? encoded : undefined
      const matches = await inTurn(() => verify(known ?? nobodys, password))
      return matches && known !== undefined
    },
    get computed() {
      return computed
    },
  }
}
