import { asc, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { site } from '../db/schema/index.ts'
import { devices } from './devices.ts'

/** The sites that meet a condition on their columns. */
export const sites = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select({
      ...getTableColumns(site),
      site_total_devices: sql<number>`(select count(*)::int from device d where d.site_id = site.site_id)`,
    })
    .from(site)
    .where(condition)
    .orderBy(asc(site.site_name), asc(site.site_id))
    .prepare('sites')
    .execute()

/** The same with their devices. */
export async function siteViews(tx: Transaction, condition: SQL | undefined) {
  const found = await sites(tx, condition)
  const ids = found.map(({ site_id }) => site_id)
  const bySite = Map.groupBy(await devices(tx, { site_ids: ids }), ({ site_id }) => site_id)
  return found.map(each => ({ ...each, site_devices: bySite.get(each.site_id) ?? [] }))
}
