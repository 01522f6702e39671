import { createHash, timingSafeEqual } from 'node:crypto'

/** Returns the token of an `Authorization: Bearer` header (RFC 6750). */
export function parseBearerToken(header: string | undefined): string | undefined {
  return header?.match(/^Bearer +(\S+)$/i)?.[1]
}

/** Returns whether `token` is one of the accepted tokens. The duration of the comparison does not depend on the result. */
export function isKnownToken(token: string | undefined, accepted: readonly string[]): boolean {
  if (!token) return false
  // `timingSafeEqual` requires operands of equal length, as digests are.
  const digest = sha256(token)
  let isKnown = false
  for (const acceptedToken of accepted) {
    // No early return: the duration would reveal which token matches.
    if (timingSafeEqual(digest, sha256(acceptedToken))) isKnown = true
  }
  return isKnown
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

const LOOPBACK_HOST = /^(localhost|(::ffff:)?127(\.\d{1,3}){3}|::1|\[::1\])$/

/** Returns whether a host name, the host of a URL or the IP address of a client belongs to the loopback interface. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_HOST.test(host)
}
