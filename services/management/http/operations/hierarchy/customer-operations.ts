import { EyrieError } from '@eyrie/contract'
import { customerRoutes } from '@eyrie/contract/management/index'
import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { channel, customer, site, usecase, userCustomer } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { findSitesWithDevices } from '../../../inventory/sites.ts'
import { findSourceChannels } from '../../../inventory/source-channels.ts'
import { assertUnassigned } from '../../../users/user-authority.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/** The `type` of a view that groups devices by site. The other type groups channels by usecase. */
const VIEW_BY_SITE = '1'
/**
 * The response to a view has the status 202 if one of its engines has reported no
 * state for this long.
 */
const MAX_STATE_AGE = sql`interval '10 seconds'`

/**
 * API operations on the customers of an organization, their sites, and the users to whom they are
 * assigned. Each runs in one transaction, `tx`, with the rights of the caller. `assertChanged`
 * throws if the caller may read a record but not change it.
 */
export const customerOperations = [
  defineOperation(
    customerRoutes.create,
    async ({ input: { customer_sites: customerSites, ...fields } }, tx) => {
      const created = firstRow(await tx.insert(customer).values(fields).returning())
      const { customer_id: customerId, organization_id: organizationId } = created
      await moveSites(tx, customerSites, {
        customer_id: customerId,
        organization_id: organizationId,
        field: 'customer_sites',
      })
      return { createdId: customerId }
    },
  ),

  defineOperation(
    customerRoutes.update,
    async (
      { input: { customer_id: customerId, customer_sites: customerSites, ...fields } },
      tx,
    ) => {
      const { organization_id } = assertChanged(
        await tx
          .update(customer)
          .set(fields)
          .where(eq(customer.customer_id, customerId))
          .returning(),
      )
      if (customerSites) {
        await releaseSites(tx, customerId, sql`not ${inArray(site.site_id, customerSites)}`)
        await moveSites(tx, customerSites, {
          customer_id: customerId,
          organization_id,
          field: 'customer_sites',
        })
      }
    },
  ),

  defineOperation(customerRoutes.delete, async ({ input: { customer_id: customerId } }, tx) => {
    const { is_default: isDefault } = assertChanged(
      await tx.delete(customer).where(eq(customer.customer_id, customerId)).returning(),
    )
    // The error rolls the deletion back.
    if (isDefault) {
      throw new EyrieError(
        'reference',
        'the default customer cannot be deleted: delete its organization instead',
      )
    }
  }),

  defineOperation(
    customerRoutes.assignSites,
    async ({ input: { customer_id: customerId, site_ids: siteIds } }, tx) => {
      // The API has checked that the customer exists.
      const [row] = await findCustomers(tx, eq(customer.customer_id, customerId))
      const { organization_id } = row!
      await moveSites(tx, siteIds, { customer_id: customerId, organization_id, field: 'site_ids' })
    },
  ),

  defineOperation(
    customerRoutes.unassignSites,
    async ({ input: { customer_id: customerId, site_ids: siteIds } }, tx) => {
      const releasedIds = await releaseSites(tx, customerId, inArray(site.site_id, siteIds))
      const missing = siteIds.filter(id => !releasedIds.includes(id.toLowerCase()))
      if (missing.length > 0) {
        throw missingRecords([{ field: 'site_ids', record: 'site of this customer' }])
      }
    },
  ),

  // `assign` and `unassign` have a list of ids in the field `customer_id`.
  defineOperation(
    customerRoutes.assign,
    async ({ input: { user_id, customer_id: customerIds } }, tx) => {
      const rows = customerIds.map(customerId => ({ user_id, customer_id: customerId }))
      if (rows.length > 0) await tx.insert(userCustomer).values(rows).onConflictDoNothing()
    },
  ),

  defineOperation(
    customerRoutes.unassign,
    async ({ input: { user_id: userId, customer_id: customerIds } }, tx) => {
      const assignments = and(
        eq(userCustomer.user_id, userId),
        inArray(userCustomer.customer_id, customerIds),
      )
      await tx.delete(userCustomer).where(assignments)
      // The database does not delete assignments that the caller may only read.
      assertUnassigned(await tx.select().from(userCustomer).where(assignments))
    },
  ),

  defineLookup(customerRoutes.get, async ({ input: { customer_id: customerId } }, tx) => {
    const [row] = await findCustomers(tx, eq(customer.customer_id, customerId))
    return row
  }),

  defineOperation(
    customerRoutes.list,
    async ({ input: { organization_id: organizationId, is_default: isDefault } }, tx) => {
      const inOrganization = eq(customer.organization_id, organizationId)
      const condition = isDefault
        ? inOrganization
        : and(inOrganization, eq(customer.is_default, false))
      return { value: await findCustomers(tx, condition) }
    },
  ),

  defineOperation(customerRoutes.view, async ({ input: { customer_id: customerId, type } }, tx) => {
    const [value, isStale] = await Promise.all([
      type === VIEW_BY_SITE ? viewBySite(tx, customerId) : viewByUsecase(tx, customerId),
      hasStaleEngine(tx, customerId),
    ])
    return { value, ...(isStale && { status: 202 as const }) }
  }),
]

const findCustomers = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select({
      ...getTableColumns(customer),
      customer_sites: sql<string[]>`array(
        select s.site_id::text from site s where s.customer_id = customer.customer_id order by 1)`,
    })
    .from(customer)
    .where(condition)
    .orderBy(asc(customer.customer_name), asc(customer.customer_id))

/**
 * Moves sites to a customer. Throws `EyrieError` (`id`) for `field` if a site is not in the
 * customer's organization.
 */
async function moveSites(
  tx: Transaction,
  siteIds: string[],
  {
    customer_id: customerId,
    organization_id: organizationId,
    field,
  }: { customer_id: string; organization_id: string; field: string },
) {
  const moved = await tx
    .update(site)
    .set({ customer_id: customerId })
    .where(and(inArray(site.site_id, siteIds), eq(site.organization_id, organizationId)))
    .returning()
  if (moved.length < siteIds.length) {
    throw missingRecords([{ field, record: 'site in this organization' }])
  }
}

/**
 * Moves sites of a customer to the default customer of the organization. Resolves to
 * the ids of these sites.
 */
async function releaseSites(
  tx: Transaction,
  customerId: string,
  condition: SQL,
): Promise<string[]> {
  const defaultCustomer = sql`(
    select d.customer_id from customer d where d.is_default and d.organization_id = site.organization_id)`
  const moved = await tx
    .update(site)
    .set({ customer_id: defaultCustomer })
    .where(and(eq(site.customer_id, customerId), condition))
    .returning()
  return moved.map(({ site_id }) => site_id)
}

/** Returns the customer's sites, each with its devices. */
const viewBySite = (tx: Transaction, customerId: string) =>
  findSitesWithDevices(tx, eq(site.customer_id, customerId))

/** Returns the usecases that the customer's channels have, each with these channels. */
async function viewByUsecase(tx: Transaction, customerId: string) {
  const siteIds = tx
    .select({ site_id: site.site_id })
    .from(site)
    .where(eq(site.customer_id, customerId))
  const channels = await findSourceChannels(tx, inArray(channel.site_id, siteIds))
  const channelsByUsecase = Map.groupBy(channels, ({ usecase_key }) => usecase_key)
  const usecases = await tx
    .select()
    .from(usecase)
    .where(inArray(usecase.usecase_key, [...channelsByUsecase.keys()]))
    .orderBy(asc(usecase.usecase_name))

  return usecases.map(row => ({
    ...row,
    usecase_channels: channelsByUsecase.get(row.usecase_key) ?? [],
  }))
}

/** Returns whether an engine of the customer's devices or channels has not responded recently. */
async function hasStaleEngine(tx: Transaction, customerId: string): Promise<boolean> {
  const [staleEngine] = await tx.execute(sql`
    select from (
      select engine_id from device join site using (site_id) where customer_id = ${customerId}
      union all select engine_id from channel join site using (site_id) where customer_id = ${customerId}
    ) engines left join engine_state using (engine_id)
    where coalesce(seen_at, '-infinity') < now() - ${MAX_STATE_AGE} limit 1`)
  return staleEngine !== undefined
}
