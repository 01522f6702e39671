import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { license } from '@eyrie/contract/activation'
import { parseAs } from '@eyrie/contract/parse'
import { z } from 'zod'

/** A pool file: a list of licenses as text, with its issuer's Ed25519 signature (RFC 8032). */
const signedPool = z.strictObject({
  payload: z.string().meta({ description: 'JSON text of the list' }),
  signature: z.base64().meta({ description: 'Ed25519 over the UTF-8 bytes of payload' }),
})

const { version: _, ...ids } = license.shape

/** A license of a pool, and the moment until which it may be used; for ever where there is none. */
const poolEntry = z.strictObject({ ...ids, until: z.iso.datetime().optional() })
export type PoolEntry = z.infer<typeof poolEntry>

const pool = z.array(poolEntry)

/** The keys of an issuer, as PEM: the private one signs pools, the public one goes to those who check them. */
export function createIssuer(): { privateKey: string; publicKey: string } {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
}

/** The text of a pool file. Throws an Error if the list is malformed or the key (PEM) is no Ed25519 key. */
export function signPool(entries: unknown, privateKey: string): string {
  const payload = JSON.stringify(parseAs(pool, entries))
  const key = createPrivateKey(privateKey)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is no Ed25519 key')
  const signature = sign(null, Buffer.from(payload), key).toString('base64')
  return `${JSON.stringify({ payload, signature }, null, 2)}\n`
}

/** The entries of a pool file. Throws an Error if it is malformed or not signed with the key (PEM). */
export function readPool(text: string, publicKey: string): PoolEntry[] {
  const { payload, signature } = parseAs(signedPool, JSON.parse(text))
  const key = createPublicKey(publicKey)
  const isGenuine =
    key.asymmetricKeyType === 'ed25519' &&
    verify(null, Buffer.from(payload), key, Buffer.from(signature, 'base64'))
  if (!isGenuine) throw new Error('its signature does not fit the key')
  return parseAs(pool, JSON.parse(payload))
}
