import { communityLicense, type License } from '@eyrie/contract'
import type { PoolEntry } from '@eyrie/license'

/** What may be activated and until when; the community license always. */
export const communityPool: PoolEntry[] = [withoutVersion(communityLicense)]

/** Why a license may not be used now; undefined if it may. */
export function refusal(wanted: License, pool: PoolEntry[], now: Date): string | undefined {
  const found = pool.find(
    ({ customer, subscription, pool }) =>
      customer === wanted.customer && subscription === wanted.subscription && pool === wanted.pool,
  )
  if (!found) return 'no pool lists this license: use one that was issued for this engine'
  if (found.until && new Date(found.until) <= now) return `this license ended at ${found.until}: renew it`
}

function withoutVersion({ version: _, ...ids }: License): PoolEntry {
  return ids
}
