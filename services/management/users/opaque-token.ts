import { createHash, randomBytes } from 'node:crypto'

/** Prefixes that secret scanners recognize in leaked files. */
const REFRESH_TOKEN_PREFIX = 'eyrie_rt_'
export const API_TOKEN_PREFIX = 'eyrie_pat_'

/** Returns 256 random bits as base64url. */
export const generateSecret = () => randomBytes(32).toString('base64url')

/** The stored form of a random secret. 256 random bits cannot be guessed, so it needs neither a salt nor a slow hash. */
export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest('base64url')

/** A refresh token. All tokens of one session share the `family`; each `secret` can be used once. */
export interface RefreshToken {
  family: string
  secret: string
}

export const formatRefreshToken = ({ family, secret }: RefreshToken) =>
  `${REFRESH_TOKEN_PREFIX}${family}.${secret}`

/** Returns undefined if `text` is not a refresh token. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const [, family, secret] = /^eyrie_rt_([\w-]{43})\.([\w-]{43})$/.exec(text) ?? []
  return family && secret ? { family, secret } : undefined
}
