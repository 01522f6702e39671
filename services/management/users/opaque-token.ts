import { createHash, randomBytes } from 'node:crypto'

/** 256 bits that nobody guesses. */
export const randomSecret = () => randomBytes(32).toString('base64url')

/** What is kept of a random secret. It needs no salt and no slow hash, since there is nothing to try. */
export const digestOf = (secret: string) => createHash('sha256').update(secret).digest('base64url')

/** What scanners for leaked secrets look for. */
const REFRESH = 'eyrie_rt_'
export const API_TOKEN = 'eyrie_pat_'

/** A refresh token: a half that all those of a session share, and one that is good for a single use. */
export interface RefreshToken {
  family: string
  secret: string
}

export const writeRefreshToken = ({ family, secret }: RefreshToken) => `${REFRESH}${family}.${secret}`

/** Undefined where it is none. */
export function readRefreshToken(text: string): RefreshToken | undefined {
  const [, family, secret] = /^eyrie_rt_([\w-]{43})\.([\w-]{43})$/.exec(text) ?? []
  return family && secret ? { family, secret } : undefined
}
