import { createHmac, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { managementRoutes } from '@eyrie/contract/management/index'
import { type CryptoKey, exportSPKI, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SignedInUser } from '../../../test/fixtures/management/management.ts'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { loadSigningKeys } from './access-tokens.ts'

const { getCurrent } = managementRoutes.user
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

const management = sharedManagement()
let viewer: SignedInUser
let keys: Awaited<ReturnType<typeof loadSigningKeys>>

beforeAll(async () => {
  viewer = await management.signIn('viewer')
  keys = await loadSigningKeys(`${management.data}/secrets/signing-key.pem`)
})

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
const parts = () => viewer.token.split('.') as [string, string, string]

/** Returns a token as the management service signs it, except for the changes of a test. */
function sign({ header = {}, claims = {}, key = keys.privateKey }: Change = {}): Promise<string> {
  return new SignJWT({ ...decode(parts()[1]), exp: inAnHour(), ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header })
    .sign(key)
}

interface Change {
  header?: Record<string, unknown>
  claims?: Record<string, unknown>
  key?: CryptoKey | KeyObject
}

const requestStatus = async (token: string) =>
  (await management.call(getCurrent, undefined, { ...viewer, token })).status

const readSessionId = ({ token }: SignedInUser): string => decode(token.split('.')[1]!).sid

/** The viewer's claims with the superadmin as subject. */
const escalatedClaims = () => encode({ ...decode(parts()[1]), sub: management.superadmin.user_id })

describe('access token', () => {
  it('is accepted if the management service has signed it', async () => {
    expect(await requestStatus(viewer.token)).toBe(200)
    expect(await requestStatus(await sign())).toBe(200)
  })

  const forged: Record<string, () => string | Promise<string>> = {
    'with a changed user': () => [parts()[0], escalatedClaims(), parts()[2]].join('.'),
    'without a signature': () => [parts()[0], parts()[1], ''].join('.'),
    'with algorithm none': () =>
      [encode({ alg: 'none', typ: 'at+jwt' }), escalatedClaims(), ''].join('.'),
    'with algorithm NONE': () =>
      [encode({ alg: 'NONE', typ: 'at+jwt' }), escalatedClaims(), parts()[2]].join('.'),
    'signed with HS256 with the public key': async () => {
      const head = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${escalatedClaims()}`
      const secret = await exportSPKI(keys.publicKey)
      return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
    },
    'signed with another key': () => sign({ key: generateKeyPairSync('ed25519').privateKey }),
    'with its own key in the header': () => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519')
      const jwk = publicKey.export({ format: 'jwk' })
      return sign({ header: { jwk, kid: '../../dev/null' }, key: privateKey })
    },
    'that has expired': () => sign({ claims: { exp: 1 } }),
    'without an expiry': () => sign({ claims: { exp: undefined } }),
    'of another issuer': () => sign({ claims: { iss: 'another issuer' } }),
    'of another token type': () => sign({ header: { typ: 'JWT' } }),
    'of an unknown session': () => sign({ claims: { sid: randomUUID() } }),
    'of another user with the session of the viewer': () =>
      sign({ claims: { sub: management.superadmin.user_id } }),
    'of the viewer with the session of another user': () =>
      sign({ claims: { sid: readSessionId(management.superadmin) } }),
    'with too many parts': () => `${viewer.token}.${parts()[2]}`,
    'with empty parts': () => '..',
  }

  it.each(Object.entries(forged))('is rejected with 401: a token %s', async (_, token) => {
    expect(await requestStatus(await token())).toBe(401)
  })
})
