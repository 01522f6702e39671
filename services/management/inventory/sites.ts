import { asc, getTableColumns, sql } from 'drizzle-orm'
import { asked, type Match } from '../db/asked.ts'
import type { Transaction } from '../db/open.ts'
import { site } from '../db/schema/index.ts'
import { findDevices } from './devices.ts'

/** Returns the sites with the given column values, each with its number of devices. */
export const findSites = asked(site, (tx, condition) =>
  tx
    .select({
      ...getTableColumns(site),
      site_total_devices: sql<number>`(select count(*)::int from device d where d.site_id = site.site_id)`,
    })
    .from(site)
    .where(condition)
    .orderBy(asc(site.site_name), asc(site.site_id)),
)

/** Returns the same sites with their devices. */
export async function findSitesWithDevices(tx: Transaction, match: Match<typeof site>) {
  const sites = await findSites(tx, match)
  const ids = sites.map(({ site_id }) => site_id)
  const devicesBySite = Map.groupBy(await findDevices(tx, { site_id: ids }), ({ site_id }) => site_id)
  return sites.map(row => ({ ...row, site_devices: devicesBySite.get(row.site_id) ?? [] }))
}
