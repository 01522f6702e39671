import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../../test/fixtures/management-database.ts'
import { createMetrics } from './metrics.ts'

test('requests are counted by what was answered', async () => {
  const metrics = createMetrics()
  const app = new Hono()
  app.use(metrics.count)
  app.get('/there', c => c.text('it is'))
  for (const path of ['/there', '/there', '/gone']) await app.request(path)
  const text = await metrics.text(undefined)
  expect(text).toContain('eyrie_management_requests_total{status="200"} 2')
  expect(text).toContain('eyrie_management_requests_total{status="404"} 1')
  expect(text).toContain('eyrie_management_database_up 0')
})

test('engines are counted once there is a database', async () => {
  const { database, remove } = await createTestDatabase()
  const text = await createMetrics().text(database)
  expect(text).toContain('eyrie_management_database_up 1')
  expect(text).toContain('eyrie_management_engines{status="online"} 0')
  await remove()
})
