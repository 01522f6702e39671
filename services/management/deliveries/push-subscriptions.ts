import { createECDH, generateKeyPairSync } from 'node:crypto'
import { type VapidKey, vapidKey } from '@eyrie/contract/management/delivery-queue'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { pushSubscription, setting } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** Name of the `setting` row with the encrypted key. */
const KEY_NAME = 'vapid'
const CURVE = 'prime256v1'
/** Marks an uncompressed point of an elliptic curve (SEC 1, section 2.3.3). */
const UNCOMPRESSED_POINT = Buffer.of(4)

/**
 * Returns the private key by which push services recognize this appliance (VAPID). The first call
 * creates the key. It never changes, because browsers subscribe to messages with its public part.
 * Needs a transaction with all rights.
 */
export async function readOrCreateVapidKey(tx: Transaction, secrets: Secrets): Promise<VapidKey> {
  const stored = await readStoredKey(tx, secrets)
  if (stored) return stored
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: CURVE })
  const { kty, crv, x, y, d } = privateKey.export({ format: 'jwk' })
  const value = { key: secrets.encrypt(JSON.stringify({ kty, crv, x, y, d })) }
  await tx.insert(setting).values({ name: KEY_NAME, value }).onConflictDoNothing()
  // Reads the key again, because another transaction may have stored one at the same time. Now
  // there is one in any case.
  return (await readStoredKey(tx, secrets))!
}

async function readStoredKey(tx: Transaction, secrets: Secrets): Promise<VapidKey | undefined> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, KEY_NAME))
  if (!row) return undefined
  const { key } = row.value as { key: string }
  return vapidKey.parse(JSON.parse(secrets.decrypt(key)))
}

/** Returns the public key as browsers expect it: an uncompressed point in base64url. */
export function toPublicKey({ x, y }: VapidKey): string {
  const point = [UNCOMPRESSED_POINT, Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
  return Buffer.concat(point).toString('base64url')
}

/** Returns whether a text is a public key of a browser with which messages can be encrypted. */
export function isPublicKey(text: string): boolean {
  const own = createECDH(CURVE)
  own.generateKeys()
  try {
    own.computeSecret(Buffer.from(text, 'base64url'))
    return true
  } catch {
    return false
  }
}

/** Deletes the subscription of a browser that no longer receives messages. */
export const deleteSubscription = (tx: Transaction, pushSubscriptionId: string): Promise<unknown> =>
  tx.delete(pushSubscription).where(eq(pushSubscription.push_subscription_id, pushSubscriptionId))
