import { createHash } from 'node:crypto'
import { Transform } from 'node:stream'

/** A stream that passes bytes on, and the SHA-256 of those that have passed, in hex. */
export function hashing() {
  const hash = createHash('sha256')
  const passing = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return { passing, sha256: () => hash.digest('hex') }
}
