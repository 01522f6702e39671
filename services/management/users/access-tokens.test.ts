import { createHmac, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { managementRoutes } from '@eyrie/contract/management/index'
import { type CryptoKey, exportSPKI, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SignedIn } from '../../../test/fixtures/management.ts'
import { sharedManagement } from '../../../test/fixtures/shared-management.ts'
import { readSigningKeys } from './access-tokens.ts'

const { info } = managementRoutes.user
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

const its = sharedManagement()
let viewer: SignedIn
let keys: Awaited<ReturnType<typeof readSigningKeys>>

beforeAll(async () => {
  viewer = await its.signIn('viewer')
  keys = await readSigningKeys(`${its.data}/secrets/signing-key.pem`)
})

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
const parts = () => viewer.token.split('.') as [string, string, string]

/** As we sign them, but for what a test changes. */
function signed({ header = {}, claims = {}, key = keys.privateKey }: Change = {}): Promise<string> {
  return new SignJWT({ ...decoded(parts()[1]), exp: inAnHour(), ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header })
    .sign(key)
}

interface Change {
  header?: Record<string, unknown>
  claims?: Record<string, unknown>
  key?: CryptoKey | KeyObject
}

const statusWith = async (token: string) => (await its.call(info, undefined, { ...viewer, token })).status

const sessionOf = ({ token }: SignedIn): string => decoded(token.split('.')[1]!).sid

/** Of the superadmin, made of the viewer's. */
const raised = () => encoded({ ...decoded(parts()[1]), sub: its.superadmin.user_id })

describe('an access token', () => {
  it('of ours is taken', async () => {
    expect(await statusWith(viewer.token)).toBe(200)
    expect(await statusWith(await signed())).toBe(200)
  })

  const forged: Record<string, () => string | Promise<string>> = {
    'whose user was changed': () => [parts()[0], raised(), parts()[2]].join('.'),
    'without a signature': () => [parts()[0], parts()[1], ''].join('.'),
    'of the algorithm none': () => [encoded({ alg: 'none', typ: 'at+jwt' }), raised(), ''].join('.'),
    'of the algorithm NONE': () => [encoded({ alg: 'NONE', typ: 'at+jwt' }), raised(), parts()[2]].join('.'),
    'signed by HS256 with the public key': async () => {
      const head = `${encoded({ alg: 'HS256', typ: 'at+jwt' })}.${raised()}`
      const secret = await exportSPKI(keys.publicKey)
      return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
    },
    'signed by another key': () => signed({ key: generateKeyPairSync('ed25519').privateKey }),
    'that brings its key along': () => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519')
      const jwk = publicKey.export({ format: 'jwk' })
      return signed({ header: { jwk, kid: '../../dev/null' }, key: privateKey })
    },
    'that has expired': () => signed({ claims: { exp: 1 } }),
    'that never expires': () => signed({ claims: { exp: undefined } }),
    'of another issuer': () => signed({ claims: { iss: 'somebody' } }),
    'of another type': () => signed({ header: { typ: 'JWT' } }),
    'of a session that there is not': () => signed({ claims: { sid: randomUUID() } }),
    'of a session that is another’s': () => signed({ claims: { sub: its.superadmin.user_id } }),
    'of another user with a session of theirs': () => signed({ claims: { sid: sessionOf(its.superadmin) } }),
    'of many dots': () => `${viewer.token}.${parts()[2]}`,
    'of nothing': () => '..',
  }

  it.each(Object.entries(forged))('%s is refused with 401', async (_, token) => {
    expect(await statusWith(await token())).toBe(401)
  })
})
