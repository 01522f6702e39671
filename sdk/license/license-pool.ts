import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { license } from '@eyrie/contract/activation'
import { parseAs } from '@eyrie/contract/parse'
import { z } from 'zod'

/**
 * License pools: lists of licenses that an issuer signs and engines verify offline. A pool file
 * contains the list as JSON text and its Ed25519 signature (RFC 8032).
 */
const signedPool = z.strictObject({
  payload: z.string().meta({ description: 'List of licenses as JSON text' }),
  signature: z.base64().meta({ description: 'Ed25519 signature of the UTF-8 bytes of payload' }),
})

const { customer, subscription, pool: poolName } = license.shape

/** A license in a pool. A license without `until` does not expire. */
const poolEntry = z.strictObject({
  customer,
  subscription,
  pool: poolName,
  until: z.iso.datetime().optional(),
})
export type PoolEntry = z.infer<typeof poolEntry>

const poolEntries = z.array(poolEntry)

/**
 * Generates the keys of an issuer, in PEM. The private key signs pools, the public key verifies
 * them.
 */
export function generateIssuerKeys(): { privateKey: string; publicKey: string } {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
}

/**
 * Creates the content of a pool file. Throws an `Error` if an entry is malformed or the key
 * is not an Ed25519 key.
 */
export function signPool(entries: unknown, privateKey: string): string {
  const payload = JSON.stringify(parseAs(poolEntries, entries))
  const key = parseKey(createPrivateKey, privateKey, 'private')
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is not an Ed25519 key')
  const signature = sign(null, Buffer.from(payload), key).toString('base64')
  return `${JSON.stringify({ payload, signature }, null, 2)}\n`
}

/**
 * Verifies a pool file and returns its entries. Throws an `Error` if it is malformed or not
 * signed with the key.
 */
export function readPool(text: string, publicKey: string): PoolEntry[] {
  const { payload, signature } = parseAs(signedPool, JSON.parse(text))
  const key = parseKey(createPublicKey, publicKey, 'public')
  const isGenuine =
    key.asymmetricKeyType === 'ed25519' &&
    verify(null, Buffer.from(payload), key, Buffer.from(signature, 'base64'))
  if (!isGenuine) throw new Error('its signature does not match the public key')
  return parseAs(poolEntries, JSON.parse(payload))
}

/** Parses a key. Throws an `Error` that is understood without knowledge of OpenSSL. */
function parseKey(parse: (pem: string) => KeyObject, pem: string, kind: 'private' | 'public') {
  try {
    return parse(pem)
  } catch (cause) {
    throw new Error(`the key is not a ${kind} key in PEM format`, { cause })
  }
}
