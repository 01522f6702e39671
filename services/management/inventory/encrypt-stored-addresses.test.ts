import { managementRoutes } from '@eyrie/contract/management/index'
import { eq, sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { expect, it, vi } from 'vitest'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../test/fixtures/management/shared-management.ts'
import { MIGRATIONS_FOLDER } from '../db/migrate.ts'
import { audit, deviceStream, source } from '../db/schema/index.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { encryptStoredAddresses } from './encrypt-stored-addresses.ts'
import { decryptAddress } from './stored-addresses.ts'

const management = sharedManagement()
const hierarchy = sharedHierarchy(management, 'first')

const PLAIN = 'rtsp://admin:Hunter2@10.0.0.9/main'

/** Stores an address as the one of the source and of the stream, as an earlier release did. */
const storePlain = (address: string) =>
  management.database.system('test', async tx => {
    await tx.update(source).set({ source_address: address })
    await tx.update(deviceStream).set({ address })
  })

const readAddresses = () =>
  management.database.system('test', async tx => [
    ...(await tx.select({ address: source.source_address }).from(source)),
    ...(await tx.select({ address: deviceStream.address }).from(deviceStream)),
  ])

const encrypt = () => encryptStoredAddresses(management.database, loadSecrets(management.data))

it('addresses of an earlier release are encrypted once', async () => {
  await storePlain(PLAIN)
  await encrypt()
  const encrypted = await readAddresses()
  expect(encrypted).toHaveLength(2)
  for (const { address } of encrypted) {
    expect(address).toMatch(/^rtsp:\/\/admin:sealed1:[\w-]+@10\.0\.0\.9\/main$/)
  }
  await encrypt()
  expect(await readAddresses()).toEqual(encrypted)

  const { device } = managementRoutes
  const { device_id } = hierarchy
  const { response } = await management.call(device.view, { device_id })
  const redacted = 'rtsp://admin:***@10.0.0.9/main'
  expect(response.device_streams).toMatchObject([{ address: redacted }])
  expect(response.device_source).toMatchObject([
    { source_id: hierarchy.source_id, source_address: redacted },
  ])
})

it.each([
  PLAIN,
  'admin:p@ss:@10.0.0.9/main?channel=1',
  'http://10.0.0.9/?user=admin&pwd=Hunter2&empty=&token=abc==#top',
  'rtsp://admin:@10.0.0.9/?pwd=',
])('does not wait for a lock of an address that is encrypted (%s)', async address => {
  await storePlain(address)
  await encrypt()
  const encrypted = await readAddresses()
  await management.database.system('test', async tx => {
    await tx.select().from(source).for('update')
    await tx.select().from(deviceStream).for('update')
    await encrypt()
  })
  expect(await readAddresses()).toEqual(encrypted)
  const secrets = loadSecrets(management.data)
  for (const stored of encrypted) expect(decryptAddress(stored.address, secrets)).toBe(address)
})

it('an address with a plain and an encrypted secret is completed', async () => {
  await storePlain('rtsp://admin:Hunter2@10.0.0.9/')
  await encrypt()
  const [stored] = await readAddresses()
  await storePlain(`${stored!.address}?token=plain`)
  await encrypt()
  for (const { address } of await readAddresses()) {
    expect(address).toMatch(/admin:sealed1:[\w-]+@10\.0\.0\.9\/\?token=sealed1:[\w-]+$/)
  }
})

it('several services that start at once encrypt an address once', async () => {
  await storePlain(PLAIN)
  await Promise.all([encrypt(), encrypt(), encrypt()])
  const secrets = loadSecrets(management.data)
  for (const { address } of await readAddresses()) {
    expect(address).not.toBe(PLAIN)
    expect(decryptAddress(address, secrets)).toBe(PLAIN)
  }
})

it('an address that is changed meanwhile is not overwritten', async () => {
  await storePlain(PLAIN)
  let encrypted: Promise<void> | undefined
  await management.database.system('test', async tx => {
    await tx.update(source).set({ source_address: '/dev/video0' })
    await tx.update(deviceStream).set({ address: '/dev/video0' })
    encrypted = encrypt()
    await vi.waitFor(async () => expect(await countWaiting()).toBe(1))
  })
  await encrypted
  expect(await readAddresses()).toEqual([{ address: '/dev/video0' }, { address: '/dev/video0' }])
})

/** Returns how many transactions wait for a lock. */
const countWaiting = () =>
  management.database.system('test', async tx => {
    const rows = await tx.execute(sql`
      select 1 from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`)
    return rows.length
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
