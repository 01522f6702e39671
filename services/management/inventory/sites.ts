import { asc, getTableColumns, sql } from 'drizzle-orm'
import { asked, type Match } from '../db/asked.ts'
import type { Transaction } from '../db/open.ts'
import { site } from '../db/schema/index.ts'
import { devices } from './devices.ts'

/** The sites whose columns have some values. */
export const sites = asked(site, (tx, condition) =>
  tx
    .select({
      ...getTableColumns(site),
      site_total_devices: sql<number>`(select count(*)::int from device d where d.site_id = site.site_id)`,
    })
    .from(site)
    .where(condition)
    .orderBy(asc(site.site_name), asc(site.site_id)),
)

/** The same with their devices. */
export async function siteViews(tx: Transaction, match: Match<typeof site>) {
  const found = await sites(tx, match)
  const ids = found.map(({ site_id }) => site_id)
  const bySite = Map.groupBy(await devices(tx, { site_id: ids }), ({ site_id }) => site_id)
  return found.map(each => ({ ...each, site_devices: bySite.get(each.site_id) ?? [] }))
}
