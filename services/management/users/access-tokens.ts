import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { readOrCreateSecret } from '@eyrie/kit/secret-file'
import { type CryptoKey, errors, importPKCS8, importSPKI, jwtVerify, SignJWT } from 'jose'

/**
 * Lifetime of a token. A token also becomes invalid when its session ends, which callers
 * check on every request.
 */
export const ACCESS_TOKEN_SECONDS = 30 * 60
const MAX_CACHED_TOKENS = 10_000
const ISSUER = 'eyrie'
const ALGORITHM = 'EdDSA'

/** The user and session for which an access token was issued. */
export interface AccessClaims {
  user_id: string
  session_id: string
}

/** Signs and verifies access tokens, which are JSON Web Tokens (RFC 7519) signed with Ed25519. */
export interface AccessTokens {
  sign(claims: AccessClaims): Promise<string>
  /** Throws `EyrieError` (`auth`) for a token that is forged, altered or expired. */
  verify(token: string): Promise<AccessClaims>
}

export interface SigningKeys {
  privateKey: CryptoKey
  publicKey: CryptoKey
}

interface VerifiedToken {
  claims: AccessClaims
  expiresAtMs: number
}

export function createAccessTokens(
  { privateKey, publicKey }: SigningKeys,
  now: () => Date,
): AccessTokens {
  /** Tokens with a valid signature, so that each signature is verified only once. */
  const verified = new Map<string, VerifiedToken>()

  async function verifySignature(token: string): Promise<VerifiedToken> {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      typ: 'at+jwt',
      currentDate: now(),
      requiredClaims: ['sub', 'sid', 'exp'],
    })
    const { sub, sid, exp } = payload
    return {
      claims: { user_id: String(sub), session_id: String(sid) },
      expiresAtMs: Number(exp) * 1000,
    }
  }

  return {
    sign({ user_id: userId, session_id: sessionId }) {
      const issuedAt = Math.floor(now().getTime() / 1000)
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt' })
        .setIssuer(ISSUER)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ACCESS_TOKEN_SECONDS)
        .sign(privateKey)
    },

    async verify(token) {
      const cached = verified.get(token)
      if (cached && now().getTime() < cached.expiresAtMs) return cached.claims

      try {
        const fresh = await verifySignature(token)
        if (verified.size >= MAX_CACHED_TOKENS) verified.clear()
        verified.set(token, fresh)
        return fresh.claims
      } catch (cause) {
        const reason =
          cause instanceof errors.JWTExpired
            ? 'the access token has expired: refresh it'
            : 'the access token is invalid: sign in again'
        throw new EyrieError('auth', reason, { cause })
      }
    },
  }
}

/**
 * Loads the key pair for access tokens from a PEM file. The first call creates the file, which
 * only its owner can read.
 */
export async function loadSigningKeys(file: string): Promise<SigningKeys> {
  const key = createPrivateKey(readOrCreateSecret(file, generateKey))
  const pkcs8 = key.export({ type: 'pkcs8', format: 'pem' }) as string
  const spki = createPublicKey(key).export({ type: 'spki', format: 'pem' }) as string
  return {
    privateKey: await importPKCS8(pkcs8, ALGORITHM),
    publicKey: await importSPKI(spki, ALGORITHM),
  }
}

/** Returns a new private key as PEM. */
const generateKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
