import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { type CryptoKey, errors, importPKCS8, importSPKI, jwtVerify, SignJWT } from 'jose'
import { secretFile } from '../secrets/secret-file.ts'

/** Short, and yet no longer good from the moment its session ends: that is asked with every request. */
export const ACCESS_TOKEN_SECONDS = 30 * 60
/** A signature that was good once stays so: these are looked at once while they last. */
const MOST_KNOWN = 10_000
const ISSUER = 'eyrie'
const ALGORITHM = 'EdDSA'

/** Whom an access token speaks for. */
export interface AccessClaims {
  user_id: string
  session_id: string
}

/** Makes and reads access tokens: JSON Web Tokens signed with Ed25519. */
export interface AccessTokens {
  sign(claims: AccessClaims): Promise<string>
  /** Throws EyrieError `auth` for one that is not ours, has been changed or has expired. */
  verify(token: string): Promise<AccessClaims>
}

export interface SigningKeys {
  privateKey: CryptoKey
  publicKey: CryptoKey
}

export function createAccessTokens({ privateKey, publicKey }: SigningKeys, now: () => Date): AccessTokens {
  const known = new Map<string, { claims: AccessClaims; until: number }>()

  async function readToken(token: string) {
    const { payload } = await jwtVerify(token, publicKey, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      typ: 'at+jwt',
      currentDate: now(),
      requiredClaims: ['sub', 'sid', 'exp'],
    })
    const { sub, sid, exp } = payload
    return { claims: { user_id: String(sub), session_id: String(sid) }, until: Number(exp) * 1000 }
  }

  return {
    sign({ user_id, session_id }) {
      const issued = Math.floor(now().getTime() / 1000)
      return new SignJWT({ sid: session_id })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt' })
        .setIssuer(ISSUER)
        .setSubject(user_id)
        .setIssuedAt(issued)
        .setExpirationTime(issued + ACCESS_TOKEN_SECONDS)
        .sign(privateKey)
    },

    async verify(token) {
      const before = known.get(token)
      if (before && now().getTime() < before.until) return before.claims
      try {
        const read = await readToken(token)
        if (known.size >= MOST_KNOWN) known.clear()
        known.set(token, read)
        return read.claims
      } catch (cause) {
        const expired = cause instanceof errors.JWTExpired
        throw new EyrieError(
          'auth',
          expired ? 'the access token has expired: refresh it' : 'this is no access token of ours',
          {
            cause,
          },
        )
      }
    },
  }
}

/** The keys that sign access tokens, made on first use: a file in PEM that its owner alone reads. */
export async function readSigningKeys(file: string): Promise<SigningKeys> {
  const secret = createPrivateKey(secretFile(file, newKey))
  const pkcs8 = secret.export({ type: 'pkcs8', format: 'pem' }) as string
  const spki = createPublicKey(secret).export({ type: 'spki', format: 'pem' }) as string
  return { privateKey: await importPKCS8(pkcs8, 'EdDSA'), publicKey: await importSPKI(spki, 'EdDSA') }
}

const newKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
