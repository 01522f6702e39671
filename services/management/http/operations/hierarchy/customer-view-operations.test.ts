import { managementRoutes } from '@eyrie/contract/management/index'
import type { Sql } from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { type ManagementUnderTest, startManagement } from '../../../../../test/fixtures/management.ts'
import { makeManyDevices } from '../../../../../test/fixtures/many-devices.ts'
import type { Database } from '../../../db/database.ts'

/** Counts the queries of everything that is done as a user from now on, where they leave for the database. */
function countQueries(database: Database): { count: number } {
  const counted = { count: 0 }
  const { as } = database
  database.as = (principal, operation, work, config) =>
    as(
      principal,
      operation,
      async tx => {
        const { client } = tx._.session as unknown as { client: Sql }
        const { unsafe } = client
        client.unsafe = (...query) => {
          counted.count += 1
          return unsafe(...query)
        }
        try {
          return await work(tx)
        } finally {
          client.unsafe = unsafe
        }
      },
      config,
    )
  return counted
}

async function view(its: ManagementUnderTest, organization_id: string) {
  const [customer] = (await its.call(managementRoutes.customer.list, { organization_id, is_default: 'true' }))
    .response
  const counted = countQueries(its.database)
  const { response } = await its.call(managementRoutes.customer.view, {
    customer_id: customer!.customer_id,
    type: 1 as never,
  })
  return { sites: response as { site_devices: { source_channels: unknown[] }[] }[], queries: counted.count }
}

test.each([
  { sites: 3, devices: 2 },
  { sites: 200, devices: 20 },
])('a customer with $sites sites of $devices devices is viewed by a dozen queries', async amounts => {
  const its = await startManagement()
  onTestFinished(() => its.remove())
  await makeManyDevices(its.database, { organizations: 1, ...amounts })
  const [organization] = (await its.call(managementRoutes.organization.list)).response
  const { sites, queries } = await view(its, organization!.organization_id)
  expect(sites).toHaveLength(amounts.sites)
  for (const { site_devices } of sites) {
    expect(site_devices).toHaveLength(amounts.devices)
    for (const { source_channels } of site_devices) expect(source_channels).toHaveLength(1)
  }
  expect(queries).toBeGreaterThan(0)
  expect(queries).toBeLessThanOrEqual(12)
})
