import { EyrieError } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { customer, site, userCustomer } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { assertUnassigned } from '../../../users/user-authority.ts'
import { lookup, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.customer

export const customerOperations = [
  operation(routes.create, async ({ input: { customer_sites, ...fields } }, tx) => {
    const [made] = await tx.insert(customer).values(fields).returning()
    const { customer_id, organization_id } = made!
    await moveSites(tx, customer_sites, { customer_id, organization_id, field: 'customer_sites' })
    return { created: customer_id }
  }),

  operation(routes.update, async ({ input: { customer_id, customer_sites, ...fields } }, tx) => {
    const { organization_id } = assertChanged(
      await tx.update(customer).set(fields).where(eq(customer.customer_id, customer_id)).returning(),
    )
    if (customer_sites) {
      await giveUpSites(tx, customer_id, sql`not ${inArray(site.site_id, customer_sites)}`)
      await moveSites(tx, customer_sites, { customer_id, organization_id, field: 'customer_sites' })
    }
    return undefined
  }),

  operation(routes.delete, async ({ input: { customer_id } }, tx) => {
    const { is_default } = assertChanged(
      await tx.delete(customer).where(eq(customer.customer_id, customer_id)).returning(),
    )
    if (is_default) throw new EyrieError('reference', 'the default customer goes with its organization')
    return undefined
  }),

  operation(routes.assignSites, async ({ input: { customer_id, site_ids } }, tx) => {
    const [found] = await customers(tx, eq(customer.customer_id, customer_id))
    const { organization_id } = found!
    await moveSites(tx, site_ids, { customer_id, organization_id, field: 'site_ids' })
    return undefined
  }),

  operation(routes.unassignSites, async ({ input: { customer_id, site_ids } }, tx) => {
    const moved = await giveUpSites(tx, customer_id, inArray(site.site_id, site_ids))
    const missing = site_ids.filter(id => !moved.includes(id.toLowerCase()))
    if (missing.length > 0) throw missingRecords([{ field: 'site_ids', record: 'site of this customer' }])
    return undefined
  }),

  operation(routes.assign, async ({ input: { user_id, customer_id } }, tx) => {
    const rows = customer_id.map(id => ({ user_id, customer_id: id }))
    if (rows.length > 0) await tx.insert(userCustomer).values(rows).onConflictDoNothing()
    return undefined
  }),

  operation(routes.unassign, async ({ input: { user_id, customer_id } }, tx) => {
    const taken = and(eq(userCustomer.user_id, user_id), inArray(userCustomer.customer_id, customer_id))
    await tx.delete(userCustomer).where(taken)
    assertUnassigned(await tx.select().from(userCustomer).where(taken))
    return undefined
  }),

  lookup(routes.id, async ({ input: { customer_id } }, tx) => {
    const [found] = await customers(tx, eq(customer.customer_id, customer_id))
    return found
  }),

  operation(routes.list, async ({ input: { organization_id, is_default } }, tx) => {
    const ofOrganization = eq(customer.organization_id, organization_id)
    const condition = is_default ? ofOrganization : and(ofOrganization, eq(customer.is_default, false))
    return { value: await customers(tx, condition) }
  }),
]

const customers = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select({
      ...getTableColumns(customer),
      customer_sites: sql<string[]>`array(
        select s.site_id::text from site s where s.customer_id = customer.customer_id order by 1)`,
    })
    .from(customer)
    .where(condition)
    .orderBy(asc(customer.customer_name), asc(customer.customer_id))
    .prepare('customers')
    .execute()

/** Throws EyrieError `id`, naming the field that brought them, where sites are another organization's. */
async function moveSites(
  tx: Transaction,
  site_ids: string[],
  { customer_id, organization_id, field }: { customer_id: string; organization_id: string; field: string },
) {
  const moved = await tx
    .update(site)
    .set({ customer_id })
    .where(and(inArray(site.site_id, site_ids), eq(site.organization_id, organization_id)))
    .returning()
  if (moved.length < site_ids.length) throw missingRecords([{ field, record: 'site in this organization' }])
}

/** Leaves those of a customer's sites that meet the condition to the default customer; resolves to their ids. */
async function giveUpSites(tx: Transaction, customer_id: string, condition: SQL): Promise<string[]> {
  const defaultCustomer = sql`(
    select d.customer_id from customer d where d.is_default and d.organization_id = site.organization_id)`
  const moved = await tx
    .update(site)
    .set({ customer_id: defaultCustomer })
    .where(and(eq(site.customer_id, customer_id), condition))
    .returning()
  return moved.map(({ site_id }) => site_id)
}
