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
/** The response to a view has the status 202 if one of its engines has been silent for longer. */
const MAX_STATE_AGE = sql`interval '10 seconds'`

/**
 * API operations on the customers of an organization, their sites, and the users to whom they are
 * assigned. Each runs in one transaction, `tx`, with the rights of the caller. `assertChanged`
 * throws if the caller may read a record but not change it.
 */
export const customerOperations = [
  defineOperation(customerRoutes.create, async ({ input }, tx) => {
    const { customer_sites: siteIds, ...fields } = input
    const created = firstRow(await tx.insert(customer).values(fields).returning())
    await moveSites(tx, siteIds, { customer: created, field: 'customer_sites' })
    return { createdId: created.customer_id }
  }),

  defineOperation(customerRoutes.update, async ({ input }, tx) => {
    const { customer_id: customerId, customer_sites: siteIds, ...fields } = input
    const isCustomer = eq(customer.customer_id, customerId)
    const updated = assertChanged(
      await tx.update(customer).set(fields).where(isCustomer).returning(),
    )
    if (siteIds) {
      await releaseSites(tx, customerId, sql`not ${inArray(site.site_id, siteIds)}`)
      await moveSites(tx, siteIds, { customer: updated, field: 'customer_sites' })
    }
  }),

  defineOperation(customerRoutes.delete, async ({ input }, tx) => {
    const isCustomer = eq(customer.customer_id, input.customer_id)
    const deleted = assertChanged(await tx.delete(customer).where(isCustomer).returning())
    // The error rolls the deletion back.
    if (deleted.is_default) {
      throw new EyrieError(
        'reference',
        'the default customer cannot be deleted: delete its organization instead',
      )
    }
  }),

  defineOperation(customerRoutes.assignSites, async ({ input }, tx) => {
    // The API has checked that the customer exists.
    const found = firstRow(await findCustomers(tx, eq(customer.customer_id, input.customer_id)))
    await moveSites(tx, input.site_ids, { customer: found, field: 'site_ids' })
  }),

  defineOperation(customerRoutes.unassignSites, async ({ input }, tx) => {
    const isListed = inArray(site.site_id, input.site_ids)
    const releasedIds = await releaseSites(tx, input.customer_id, isListed)
    const isForeign = (siteId: string) => !releasedIds.includes(siteId)
    if (input.site_ids.some(isForeign)) {
      throw missingRecords([{ field: 'site_ids', record: 'site of this customer' }])
    }
  }),

  defineOperation(customerRoutes.assign, async ({ input }, tx) => {
    // The field is a list in spite of its name.
    const { user_id, customer_id: customerIds } = input
    const assignments = customerIds.map(customerId => ({ user_id, customer_id: customerId }))
    if (assignments.length === 0) return
    await tx.insert(userCustomer).values(assignments).onConflictDoNothing()
  }),

  defineOperation(customerRoutes.unassign, async ({ input }, tx) => {
    // The field is a list in spite of its name.
    const { user_id, customer_id: customerIds } = input
    const areRequested = and(
      eq(userCustomer.user_id, user_id),
      inArray(userCustomer.customer_id, customerIds),
    )
    await tx.delete(userCustomer).where(areRequested)
    // The database does not delete assignments that the caller may only read.
    assertUnassigned(await tx.select().from(userCustomer).where(areRequested))
  }),

  defineLookup(customerRoutes.get, async ({ input }, tx) => {
    const [found] = await findCustomers(tx, eq(customer.customer_id, input.customer_id))
    return found
  }),

  defineOperation(customerRoutes.list, async ({ input }, tx) => {
    const inOrganization = eq(customer.organization_id, input.organization_id)
    // `is_default` says whether the list contains the default customer too.
    const condition = input.is_default
      ? inOrganization
      : and(inOrganization, sql`not ${customer.is_default}`)
    return { value: await findCustomers(tx, condition) }
  }),

  defineOperation(customerRoutes.view, async ({ input: { customer_id, type } }, tx) => {
    const [value, isStale] = await Promise.all([
      type === VIEW_BY_SITE ? viewBySite(tx, customer_id) : viewByUsecase(tx, customer_id),
      hasStaleEngine(tx, customer_id),
    ])
    return isStale ? { value, status: 202 as const } : { value }
  }),
]

const findCustomers = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select({
      ...getTableColumns(customer),
      customer_sites: sql<string[]>`array(
        select site.site_id::text
        from site
        where site.customer_id = customer.customer_id
        order by 1
      )`,
    })
    .from(customer)
    .where(condition)
    .orderBy(asc(customer.customer_name), asc(customer.customer_id))

/** The customer that sites are moved to, and the field of the request that lists the sites. */
interface MoveTarget {
  customer: { customer_id: string; organization_id: string }
  field: string
}

/**
 * Moves sites to a customer. Throws `EyrieError` (`id`) for `field` if a site is not in the
 * customer's organization.
 */
async function moveSites(
  tx: Transaction,
  siteIds: string[],
  { customer: { customer_id, organization_id }, field }: MoveTarget,
): Promise<void> {
  const moved = await tx
    .update(site)
    .set({ customer_id })
    .where(and(inArray(site.site_id, siteIds), eq(site.organization_id, organization_id)))
    .returning()
  if (moved.length < siteIds.length) {
    throw missingRecords([{ field, record: 'site in this organization' }])
  }
}

/**
 * Moves those sites of a customer that meet a condition to the default customer of the
 * organization. Returns the ids of these sites.
 */
async function releaseSites(
  tx: Transaction,
  customerId: string,
  condition: SQL,
): Promise<string[]> {
  const defaultCustomer = sql`(
    select customer.customer_id
    from customer
    where customer.is_default
      and customer.organization_id = site.organization_id
  )`
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
  const customerSites = tx
    .select({ site_id: site.site_id })
    .from(site)
    .where(eq(site.customer_id, customerId))
  const channels = await findSourceChannels(tx, inArray(channel.site_id, customerSites))
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
      select engine_id
      from device
      join site using (site_id)
      where customer_id = ${customerId}
      union all
      select engine_id
      from channel
      join site using (site_id)
      where customer_id = ${customerId}
    ) engines
    left join engine_state using (engine_id)
    -- An engine without a state has never responded.
    where coalesce(seen_at, '-infinity') < now() - ${MAX_STATE_AGE}
    limit 1`)
  return staleEngine !== undefined
}
