import { managementRoutes } from '@eyrie/contract/management/index'
import type { Sql } from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import {
  startTestManagement,
  type TestManagement,
} from '../../../../../test/fixtures/management/management.ts'
import { insertManyDevices } from '../../../../../test/fixtures/management/many-devices.ts'
import type { Database } from '../../../db/database.ts'

/** Counts all further queries that are sent to the database on behalf of users. */
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

async function view(management: TestManagement, organizationId: string) {
  const [customer] = (
    await management.call(managementRoutes.customer.list, {
      organization_id: organizationId,
      is_default: 'true',
    })
  ).response
  const counted = countQueries(management.database)
  const { response } = await management.call(managementRoutes.customer.view, {
    customer_id: customer!.customer_id,
    type: 1 as never,
  })
  return {
    sites: response as { site_devices: { source_channels: unknown[] }[] }[],
    queries: counted.count,
  }
}

test.each([
  { sites: 3, devices: 2 },
  { sites: 200, devices: 20 },
])('a view of $sites sites with $devices devices takes a dozen queries', async amounts => {
  const management = await startTestManagement()
  onTestFinished(() => management.remove())
  await insertManyDevices(management.database, { organizations: 1, ...amounts })
  const [organization] = (await management.call(managementRoutes.organization.list)).response
  const { sites, queries } = await view(management, organization!.organization_id)
  expect(sites).toHaveLength(amounts.sites)
  for (const { site_devices: siteDevices } of sites) {
    expect(siteDevices).toHaveLength(amounts.devices)
    for (const { source_channels: sourceChannels } of siteDevices) {
      expect(sourceChannels).toHaveLength(1)
    }
  }
  expect(queries).toBeGreaterThan(0)
  expect(queries).toBeLessThanOrEqual(12)
})
