import { asc, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { site } from '../db/schema/index.ts'
import { findDevicesOfSites } from './devices.ts'

/** Returns the sites that satisfy a condition, each with its number of devices. */
export const findSites = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select({
      ...getTableColumns(site),
      site_total_devices: sql<number>`(
        select count(*)::int
        from device
        where device.site_id = site.site_id
      )`,
    })
    .from(site)
    .where(condition)
    .orderBy(asc(site.site_name), asc(site.site_id))

/** Returns the sites that satisfy a condition, each with its devices. */
export async function findSitesWithDevices(tx: Transaction, condition: SQL | undefined) {
  const sites = await findSites(tx, condition)
  const ids = sites.map(({ site_id }) => site_id)
  const devicesBySite = Map.groupBy(await findDevicesOfSites(tx, ids), ({ site_id }) => site_id)
  return sites.map(row => ({ ...row, site_devices: devicesBySite.get(row.site_id) ?? [] }))
}
