import { siteRoutes } from '@eyrie/contract/management/index'
import { and, eq, inArray } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { site, userSite } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { findSites, findSitesWithDevices } from '../../../inventory/sites.ts'
import { assertUnassigned } from '../../../users/user-authority.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/**
 * API operations on the sites of a customer, and the users to whom they are assigned. Each runs in
 * one transaction, `tx`, with the rights of the caller. `assertChanged` throws if the caller may
 * read a site but not change it.
 */
export const siteOperations = [
  defineOperation(siteRoutes.create, async ({ input }, tx) => {
    const created = firstRow(await tx.insert(site).values(input).returning())
    return { createdId: created.site_id }
  }),

  defineOperation(siteRoutes.update, async ({ input }, tx) => {
    const { site_id: siteId, ...fields } = input
    assertChanged(await tx.update(site).set(fields).where(eq(site.site_id, siteId)).returning())
  }),

  defineOperation(siteRoutes.delete, async ({ input }, tx) => {
    assertChanged(await tx.delete(site).where(eq(site.site_id, input.site_id)).returning())
  }),

  defineOperation(siteRoutes.assign, async ({ input }, tx) => {
    // The field is a list in spite of its name.
    const { user_id, site_id: siteIds } = input
    const assignments = siteIds.map(siteId => ({ user_id, site_id: siteId }))
    if (assignments.length === 0) return
    await tx.insert(userSite).values(assignments).onConflictDoNothing()
  }),

  defineOperation(siteRoutes.unassign, async ({ input }, tx) => {
    // The field is a list in spite of its name.
    const { user_id, site_id: siteIds, customer_id } = input
    if (customer_id) await assertSitesOfCustomer(tx, customer_id, siteIds)
    const areRequested = and(eq(userSite.user_id, user_id), inArray(userSite.site_id, siteIds))
    await tx.delete(userSite).where(areRequested)
    // The database does not delete assignments that the caller may only read.
    assertUnassigned(await tx.select().from(userSite).where(areRequested))
  }),

  defineLookup(siteRoutes.get, async ({ input }, tx) => {
    const [row] = await findSites(tx, eq(site.site_id, input.site_id))
    return row
  }),

  defineLookup(siteRoutes.view, async ({ input }, tx) => {
    const [row] = await findSitesWithDevices(tx, eq(site.site_id, input.site_id))
    return row
  }),

  defineOperation(siteRoutes.list, async ({ input }, tx) => ({
    value: await findSites(tx, eq(site.customer_id, input.customer_id)),
  })),
]

/** Throws `EyrieError` (`id`) if a site does not belong to this customer. */
async function assertSitesOfCustomer(
  tx: Transaction,
  customerId: string,
  siteIds: string[],
): Promise<void> {
  const rows = await tx
    .select({ site_id: site.site_id })
    .from(site)
    .where(and(inArray(site.site_id, siteIds), eq(site.customer_id, customerId)))
  if (rows.length < siteIds.length) {
    throw missingRecords([{ field: 'site_id', record: 'site of this customer' }])
  }
}
