import { siteRoutes } from '@eyrie/contract/management/index'
import { and, eq, inArray } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { site, userSite } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { findSites, findSitesWithDevices } from '../../../inventory/sites.ts'
import { assertUnassigned } from '../../../users/user-authority.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

/**
 * API operations on the sites of a customer, and the users to whom they are assigned. Each runs in one transaction,
 * `tx`, with the rights of the caller. `assertChanged` throws if the caller may read a site but not change it.
 */
export const siteOperations = [
  defineOperation(siteRoutes.create, async ({ input }, tx) => {
    const [created] = await tx.insert(site).values(input).returning()
    return { created: created!.site_id }
  }),

  defineOperation(siteRoutes.update, async ({ input: { site_id, ...fields } }, tx) => {
    assertChanged(await tx.update(site).set(fields).where(eq(site.site_id, site_id)).returning())
    return undefined
  }),

  defineOperation(siteRoutes.delete, async ({ input: { site_id } }, tx) => {
    assertChanged(await tx.delete(site).where(eq(site.site_id, site_id)).returning())
    return undefined
  }),

  // `assign` and `unassign` have a list of ids in the field `site_id`.
  defineOperation(siteRoutes.assign, async ({ input: { user_id, site_id: siteIds } }, tx) => {
    const rows = siteIds.map(site_id => ({ user_id, site_id }))
    if (rows.length > 0) await tx.insert(userSite).values(rows).onConflictDoNothing()
    return undefined
  }),

  defineOperation(siteRoutes.unassign, async ({ input: { user_id, site_id: siteIds, customer_id } }, tx) => {
    if (customer_id) await assertSitesOfCustomer(tx, customer_id, siteIds)
    const isAffected = and(eq(userSite.user_id, user_id), inArray(userSite.site_id, siteIds))
    await tx.delete(userSite).where(isAffected)
    assertUnassigned(await tx.select().from(userSite).where(isAffected))
    return undefined
  }),

  defineLookup(siteRoutes.id, async ({ input: { site_id } }, tx) => {
    const [row] = await findSites(tx, eq(site.site_id, site_id))
    return row
  }),

  defineLookup(siteRoutes.view, async ({ input: { site_id } }, tx) => {
    const [row] = await findSitesWithDevices(tx, eq(site.site_id, site_id))
    return row
  }),

  defineOperation(siteRoutes.list, async ({ input: { customer_id } }, tx) => ({
    value: await findSites(tx, eq(site.customer_id, customer_id)),
  })),
]

/** Throws `EyrieError` (`id`) if a site does not belong to this customer. */
async function assertSitesOfCustomer(
  tx: Transaction,
  customer_id: string,
  site_ids: string[],
): Promise<void> {
  const rows = await tx
    .select({ site_id: site.site_id })
    .from(site)
    .where(and(inArray(site.site_id, site_ids), eq(site.customer_id, customer_id)))
  if (rows.length < site_ids.length)
    throw missingRecords([{ field: 'site_id', record: 'site of this customer' }])
}
