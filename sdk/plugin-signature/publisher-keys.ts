import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { parseAs } from '@eyrie/contract/parse'
import { publisherKey, publisherName } from '@eyrie/contract/plugin-signature'
import { z } from 'zod'

/**
 * The keys of publishers as files. Both are JSON and contain the name of the publisher, so that it
 * is stated only once.
 */

const privateKeyFile = z.strictObject({
  publisher: publisherName,
  private_key: z.string().meta({ description: 'Ed25519 private key, PKCS #8 in PEM' }),
})

const publicKeyFile = z.strictObject({ publisher: publisherName, key: publisherKey })

/** What owners of engines need to trust a publisher. */
export type PublicKey = z.infer<typeof publicKeyFile>

/** What a publisher signs with. */
export interface SigningKey extends PublicKey {
  privateKey: KeyObject
}

/**
 * Generates the keys of a publisher, each as the content of a file. Throws an `Error` if
 * the name is invalid.
 */
export function generatePublisherKeys(publisher: string): {
  privateKey: string
  publicKey: string
} {
  const name = parseAs(publisherName, publisher)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey: toFile({
      publisher: name,
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    } satisfies z.infer<typeof privateKeyFile>),
    publicKey: toFile({ publisher: name, key: toHex(publicKey) } satisfies PublicKey),
  }
}

/**
 * Reads the content of a private key file. Throws an `Error` with the reason, which
 * never contains the key.
 */
export function readSigningKey(text: string): SigningKey {
  const { publisher, private_key: pem } = parseAs(privateKeyFile, parseJson(text, 'private'))
  const privateKey = parsePrivateKey(pem)
  return { publisher, key: toHex(createPublicKey(privateKey)), privateKey }
}

/** Reads the content of a public key file. Throws an `Error` with the reason. */
export function readPublicKey(text: string): PublicKey {
  return parseAs(publicKeyFile, parseJson(text, 'public'))
}

/** Returns the key that verifies signatures of a publisher. */
export function toVerifyingKey(key: string): KeyObject {
  const x = Buffer.from(key, 'hex').toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

const toFile = (content: object) => `${JSON.stringify(content, null, 2)}\n`

const toHex = (publicKey: KeyObject) =>
  Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('hex')

/** The messages of `JSON.parse` quote the text, which may be a secret. */
function parseJson(text: string, kind: 'private' | 'public'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`it is not a ${kind} key file of eyrie plugin keygen`)
  }
}

function parsePrivateKey(pem: string): KeyObject {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(pem)
  } catch {}
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new Error('/private_key: must be an Ed25519 private key in PEM')
  }
  return key
}
