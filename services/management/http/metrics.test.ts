import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { startService } from '../../../test/fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createMetrics } from './metrics.ts'

test('requests are counted by status', async () => {
  const metrics = createMetrics(() => {
    throw new Error('the database is starting')
  })
  const app = new Hono()
  app.use(metrics.count)
  app.get('/there', c => c.text('it is'))
  for (const path of ['/there', '/there', '/gone']) await app.request(path)
  const text = await metrics.registry.metrics()
  expect(text).toContain('eyrie_management_requests_total{status="200"} 2')
  expect(text).toContain('eyrie_management_requests_total{status="404"} 1')
  expect(text).toContain('eyrie_management_database_up 0')
})

test('engines are counted while the database is reachable', async () => {
  const { database, remove } = await createTestDatabase()
  const text = await createMetrics(() => database).registry.metrics()
  expect(text).toContain('eyrie_management_database_up 1')
  expect(text).toContain('eyrie_management_engines{status="online"} 0')
  expect(text).toContain('eyrie_management_deliveries_waiting 0')
  await remove()
})

test('the service exposes the state of its database', { timeout: 180_000 }, async () => {
  const management = await startService('management', {
    EYRIE_DATA: createTemporaryFolder(),
    EYRIE_MANAGEMENT_PORT: '0',
  })
  onTestFinished(() => management.stop())
  const read = async () => (await fetch(`${management.url}/metrics`)).text()
  await expect.poll(read).toContain('eyrie_management_database_up 1')
})
