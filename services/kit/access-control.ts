import { createHash, timingSafeEqual } from 'node:crypto'

/** The token in an `Authorization: Bearer` header, if any. */
export function parseBearerToken(header: string | undefined): string | undefined {
  return header?.match(/^Bearer +(\S+)$/i)?.[1]
}

/** Whether the token is one of the accepted ones. Compares in constant time. */
export function isKnownToken(token: string | undefined, accepted: readonly string[]): boolean {
  if (!token) return false
  const digest = sha256(token)
  // Compares with every token, so that the time taken does not depend on which one matches.
  return accepted.map(known => timingSafeEqual(digest, sha256(known))).some(Boolean)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

const LOOPBACK = /^(localhost|(::ffff:)?127(\.\d{1,3}){3}|::1|\[::1\])$/

/** Whether a host name, the host of a URL or the address of a peer is the loopback interface. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}
