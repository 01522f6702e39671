import { createPublicKey, verify } from 'node:crypto'
import { communityLicense, type License, license } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { z } from 'zod'

/** A pool file: a list of licenses as text, with its issuer's Ed25519 signature. */
const signedPool = z.strictObject({
  payload: z.string().meta({ description: 'JSON text of the list' }),
  signature: z.base64().meta({ description: 'Ed25519 over the UTF-8 bytes of payload' }),
})

const { version: _, ...ids } = license.shape
const entry = z.strictObject({ ...ids, until: z.iso.datetime().optional() })
export type PoolEntry = z.infer<typeof entry>

/** What may be activated and until when; the community license always. */
export const communityPool: PoolEntry[] = [withoutVersion(communityLicense)]

/** The entries of a pool file. Throws an Error if it is malformed or not signed with the key (PEM). */
export function readPool(text: string, publicKey: string): PoolEntry[] {
  const { payload, signature } = parseAs(signedPool, JSON.parse(text))
  const isGenuine = verify(
    null,
    Buffer.from(payload),
    createPublicKey(publicKey),
    Buffer.from(signature, 'base64'),
  )
  if (!isGenuine) throw new Error('its signature does not fit the key')
  return parseAs(z.array(entry), JSON.parse(payload))
}

/** Why a license may not be activated now; undefined if it may. */
export function refusal(wanted: License, pool: PoolEntry[], now: Date): string | undefined {
  const found = pool.find(
    ({ customer, subscription, pool }) =>
      customer === wanted.customer && subscription === wanted.subscription && pool === wanted.pool,
  )
  if (!found) return 'no pool lists this license: use one that was issued for this engine'
  if (found.until && new Date(found.until) < now) return `this license ended at ${found.until}: renew it`
}

function withoutVersion({ version: _, ...ids }: License): PoolEntry {
  return ids
}
