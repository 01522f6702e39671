import { createHash, randomBytes } from 'node:crypto'

// Opaque tokens are random secrets: refresh tokens of sessions, and API tokens. The database
// stores only their hashes.

/** The prefixes let secret scanners recognize leaked tokens. */
const REFRESH_TOKEN_PREFIX = 'eyrie_rt_'
export const API_TOKEN_PREFIX = 'eyrie_pat_'

/** Returns 256 random bits as base64url. */
export const generateSecret = () => randomBytes(32).toString('base64url')

/**
 * Hashes a random secret for storage. It cannot be guessed, so it needs neither a
 * salt nor a slow hash.
 */
export const hashSecret = (secret: string) =>
  createHash('sha256').update(secret).digest('base64url')

/**
 * A refresh token. All tokens of a session have the same `family`; each `secret` can be used once.
 */
export interface RefreshToken {
  family: string
  secret: string
}

export const formatRefreshToken = ({ family, secret }: RefreshToken) =>
  `${REFRESH_TOKEN_PREFIX}${family}.${secret}`

/** Parses a refresh token. Returns undefined if the text has a different format. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, family, secret] = /^eyrie_rt_([\w-]{43})\.([\w-]{43})$/.exec(text) ?? []
  return family && secret ? { family, secret } : undefined
}
