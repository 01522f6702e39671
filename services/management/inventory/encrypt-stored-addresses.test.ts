import { managementRoutes } from '@eyrie/contract/management/index'
import { eq, sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { expect, it } from 'vitest'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../test/fixtures/management/shared-management.ts'
import { MIGRATIONS_FOLDER } from '../db/migrate.ts'
import { audit, deviceStream, source } from '../db/schema/index.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { encryptStoredAddresses } from './encrypt-stored-addresses.ts'

const management = sharedManagement()
const hierarchy = sharedHierarchy(management, 'first')

it('addresses of an earlier release are encrypted once', async () => {
  const { source_id, device_id } = hierarchy
  const plain = 'rtsp://admin:Hunter2@10.0.0.9/main'
  const { database } = management
  await database.system('test', async tx => {
    await tx.update(source).set({ source_address: plain })
    await tx.update(deviceStream).set({ address: plain })
  })
  const read = () =>
    database.system('test', async tx => [
      ...(await tx.select({ address: source.source_address }).from(source)),
      ...(await tx.select({ address: deviceStream.address }).from(deviceStream)),
    ])

  const secrets = loadSecrets(management.data)
  await encryptStoredAddresses(database, secrets)
  const encrypted = await read()
  expect(encrypted).toHaveLength(2)
  for (const { address } of encrypted) {
    expect(address).toMatch(/^rtsp:\/\/admin:sealed1:[\w-]+@10\.0\.0\.9\/main$/)
  }
  await encryptStoredAddresses(database, secrets)
  expect(await read()).toEqual(encrypted)

  const { device } = managementRoutes
  const { response } = await management.call(device.view, { device_id })
  const redacted = 'rtsp://admin:***@10.0.0.9/main'
  expect(response.device_streams).toMatchObject([{ address: redacted }])
  expect(response.device_source).toMatchObject([{ source_id, source_address: redacted }])
})

it('the migration redacts addresses in entries of the audit log', async () => {
  const entries = await management.database.system('test', async tx => {
    await tx.execute(sql`
      update audit set
        before = before || '{"source_address": "rtsp://admin:Hunter2@10.0.0.9/main"}',
        after = after || '{"source_address": "rtsp://admin:Hunter3@10.0.0.9/main"}'
      where record = 'source'`)
    const migration = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER }).find(
      ({ sql: statements }) => statements.some(text => text.includes('function redact_address')),
    )
    for (const statement of migration!.sql) await tx.execute(sql.raw(statement))
    return tx.select().from(audit).where(eq(audit.record, 'source'))
  })
  const redacted = { source_address: 'rtsp://admin:***@10.0.0.9/main' }
  expect(entries.filter(({ change }) => change === 'create')).toMatchObject([
    { before: null, after: redacted },
  ])
  expect(entries.find(({ change }) => change === 'update')).toMatchObject({
    before: redacted,
    after: redacted,
  })
})
