import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, inArray, sql } from 'drizzle-orm'
import { asked } from '../../../db/asked.ts'
import type { Transaction } from '../../../db/open.ts'
import { site, usecase } from '../../../db/schema/index.ts'
import { siteViews } from '../../../inventory/sites.ts'
import { sourceChannels } from '../../../inventory/source-channels.ts'
import { defineOperation } from '../../api/operation.ts'

/** Older than this, what is shown of an engine may no longer be so. */
const FRESH = sql`interval '10 seconds'`

export const customerViewOperations = [
  defineOperation(managementRoutes.customer.view, async ({ input: { customer_id, type } }, tx) => {
    const [value, stale] = await Promise.all([
      type === '1' ? siteViews(tx, { customer_id }) : byUsecase(tx, customer_id),
      isStale(tx, customer_id),
    ])
    return { value, ...(stale && { status: 202 as const }) }
  }),
]

const sitesOf = asked(site, (tx, condition) =>
  tx.select({ site_id: site.site_id }).from(site).where(condition),
)

/** Usecases that the customer's channels have. */
async function byUsecase(tx: Transaction, customer_id: string) {
  const sites = await sitesOf(tx, { customer_id })
  const channels = await sourceChannels(tx, { site_id: sites.map(({ site_id }) => site_id) })
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
