import { createHash, timingSafeEqual } from 'node:crypto'

const LOOPBACK_HOST = /^(localhost|(::ffff:)?127(\.\d{1,3}){3}|::1|\[::1\])$/

/** Returns the token of an `Authorization: Bearer` header (RFC 6750). */
export function parseBearerToken(header: string | undefined): string | undefined {
  return header?.match(/^Bearer +(\S+)$/i)?.[1]
}

/**
 * Returns whether `token` is one of the accepted tokens. The duration of the comparison does not
 * depend on the result.
 */
export const isKnownToken = (token: string | undefined, accepted: readonly string[]): boolean =>
  hasKnownDigest(token, accepted.map(digestToken))

/** Returns whether `token` is one of the tokens with these digests, as `isKnownToken` does. */
export function hasKnownDigest(token: string | undefined, digests: readonly string[]): boolean {
  if (!token) return false
  const actual = Buffer.from(digestToken(token))
  let isKnown = false
  for (const digest of digests) {
    const expected = Buffer.from(digest)
    // No early return: the duration would reveal which token matches. `timingSafeEqual` requires
    // operands of equal length.
    if (expected.length === actual.length && timingSafeEqual(actual, expected)) isKnown = true
  }
  return isKnown
}

/**
 * Returns the SHA-256 of a token in hexadecimal. Tokens are random, so that a digest
 * does not reveal them.
 */
export const digestToken = (token: string): string =>
  createHash('sha256').update(token).digest('hex')

/**
 * Returns whether a host name, the host of a URL or the IP address of a client belongs to
 * the loopback interface.
 */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOST.test(host)
}
