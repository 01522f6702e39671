import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether a bearer token is one of those accepted, compared in constant time. */
export function isKnownToken(token: string | undefined, accepted: readonly string[]): boolean {
  if (!token) return false
  const sent = digest(token)
  return accepted.map(known => timingSafeEqual(sent, digest(known))).some(Boolean)
}

/** The token of an `Authorization: Bearer` header. */
export function parseBearerToken(header: string | undefined): string | undefined {
  return header?.match(/^Bearer +(\S+)$/i)?.[1]
}
