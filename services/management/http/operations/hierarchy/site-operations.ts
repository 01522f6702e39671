import { managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, inArray } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { site, userSite } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { findSites, findSitesWithDevices } from '../../../inventory/sites.ts'
import { assertUnassigned } from '../../../users/user-authority.ts'
import { lookup, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.site

export const siteOperations = [
  operation(routes.create, async ({ input }, tx) => {
    const [made] = await tx.insert(site).values(input).returning()
    return { created: made!.site_id }
  }),

  operation(routes.update, async ({ input: { site_id, ...fields } }, tx) => {
    assertChanged(await tx.update(site).set(fields).where(eq(site.site_id, site_id)).returning())
    return undefined
  }),

  operation(routes.delete, async ({ input: { site_id } }, tx) => {
    assertChanged(await tx.delete(site).where(eq(site.site_id, site_id)).returning())
    return undefined
  }),

  operation(routes.assign, async ({ input: { user_id, site_id } }, tx) => {
    const rows = site_id.map(id => ({ user_id, site_id: id }))
    if (rows.length > 0) await tx.insert(userSite).values(rows).onConflictDoNothing()
    return undefined
  }),

  operation(routes.unassign, async ({ input: { user_id, site_id, customer_id } }, tx) => {
    if (customer_id) await requireSitesOf(tx, customer_id, site_id)
    const taken = and(eq(userSite.user_id, user_id), inArray(userSite.site_id, site_id))
    await tx.delete(userSite).where(taken)
    assertUnassigned(await tx.select().from(userSite).where(taken))
    return undefined
  }),

  lookup(routes.id, async ({ input: { site_id } }, tx) => {
    const [found] = await findSites(tx, eq(site.site_id, site_id))
    return found
  }),

  lookup(routes.view, async ({ input: { site_id } }, tx) => {
    const [found] = await findSitesWithDevices(tx, eq(site.site_id, site_id))
    return found
  }),

  operation(routes.list, async ({ input: { customer_id } }, tx) => ({
    value: await findSites(tx, eq(site.customer_id, customer_id)),
  })),
]

/** Throws EyrieError `id` where one of the sites is another customer's. */
async function requireSitesOf(tx: Transaction, customer_id: string, site_ids: string[]): Promise<void> {
  const found = await tx
    .select({ site_id: site.site_id })
    .from(site)
    .where(and(inArray(site.site_id, site_ids), eq(site.customer_id, customer_id)))
  if (found.length < site_ids.length)
    throw missingRecords([{ field: 'site_id', record: 'site of this customer' }])
}
