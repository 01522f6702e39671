import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, site, usecase } from '../../../db/schema/index.ts'
import { findSitesWithDevices } from '../../../inventory/sites.ts'
import { findSourceChannels } from '../../../inventory/source-channels.ts'
import { operation } from '../../api/operation.ts'

/** Older than this, what is shown of an engine may no longer be so. */
const FRESH = sql`interval '10 seconds'`

export const customerViewOperations = [
  operation(managementRoutes.customer.view, async ({ input: { customer_id, type } }, tx) => {
    const [value, stale] = await Promise.all([
      type === '1' ? findSitesWithDevices(tx, eq(site.customer_id, customer_id)) : byUsecase(tx, customer_id),
      isStale(tx, customer_id),
    ])
    return { value, ...(stale && { status: 202 as const }) }
  }),
]

/** Usecases that the customer's channels have. */
async function byUsecase(tx: Transaction, customer_id: string) {
  const siteIds = tx.select({ site_id: site.site_id }).from(site).where(eq(site.customer_id, customer_id))
  const channels = await findSourceChannels(tx, inArray(channel.site_id, siteIds))
  const byKey = Map.groupBy(channels, ({ usecase_key }) => usecase_key)
  const usecases = await tx
    .select()
    .from(usecase)
    .where(inArray(usecase.usecase_key, [...byKey.keys()]))
    .orderBy(asc(usecase.usecase_name))
  return usecases.map(each => ({ ...each, usecase_channels: byKey.get(each.usecase_key) ?? [] }))
}

/** Whether an engine of the customer's devices or channels was not heard of for long. */
async function isStale(tx: Transaction, customer_id: string): Promise<boolean> {
  const [stale] = await tx.execute(sql`
    select from (
      select engine_id from device join site using (site_id) where customer_id = ${customer_id}
      union all select engine_id from channel join site using (site_id) where customer_id = ${customer_id}
    ) engines left join engine_state using (engine_id)
    where coalesce(seen_at, '-infinity') < now() - ${FRESH} limit 1`)
  return stale !== undefined
}
