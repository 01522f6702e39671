import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../test/fixtures/management/test-database.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import type { Database } from '../db/database.ts'
import { image, organization, setting } from '../db/schema/index.ts'
import { loadSecrets } from '../secrets/secrets.ts'

/** Returns the UUID of a sample record. */
export const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
/** A text with everything that COPY has to escape. */
const SPECIAL_TEXT = 'tab\t line\n backslash \\N quote " ünïcödé 🦅 \\. end'
export const jpeg = Buffer.from('not really a picture, but bytes')

/** An installation with sample records and files, reset before each test. */
export interface Installation {
  database: TestDatabase
  /** Folder of its data. */
  data: string
}

/**
 * Creates the installation before the first test. Its database is filled, and its folder
 * created, before each test.
 */
export function useInstallation(): Installation {
  const installation = {} as Installation
  beforeAll(async () => {
    const database = await createTestDatabase()
    installation.database = database
    // Fills one and a half parts of the archive.
    await database.database.system('test', tx =>
      tx.execute(sql`
        insert into event (engine_id, log_id, seq, time, channel_id, kind, data)
        select ${id(5)}, 'log', n, timestamptz '2026-01-01T00:00:00.123Z' + n * interval '1 minute', ${id(6)}, 'event',
          jsonb_build_object('type', 'line-crossing', 'note', repeat('x', 130))
        from generate_series(1, 20000) as n`),
    )
  })
  afterAll(() => installation.database.remove())
  beforeEach(async () => {
    installation.data = createDataFolder()
    await insertRecords(installation.database.database, installation.data)
  })
  return installation
}

async function insertRecords(database: Database, data: string) {
  await database.system('test', async tx => {
    await tx.execute(sql`delete from image; delete from setting`)
    await tx.execute(sql`delete from site; delete from customer; delete from organization`)
    await tx.insert(organization).values({
      organization_id: id(1),
      organization_key: 'acme',
      organization_name: SPECIAL_TEXT,
      organization_description: '',
      organization_icon: '',
      organization_website: '',
      organization_address: {
        organization_area: SPECIAL_TEXT,
        organization_city: '',
        organization_country: '',
        organization_state: '',
        organization_street: '',
        organization_unit: '',
        organization_zip: '',
        organization_geolocation: { lat: 1.5, long: -0.25 },
      },
    })
    await tx.execute(sql`
      insert into customer
        (customer_id, organization_id, customer_key, customer_name, is_default, customer_contact, customer_address)
      values (${id(2)}, ${id(1)}, 'default', 'Default', true, ${'{"a, b","{c}",""}'}, '{}')`)
    await tx.execute(sql`
      insert into site (site_id, organization_id, customer_id, site_key, site_name, site_address)
      values (${id(3)}, ${id(1)}, ${id(2)}, 'gate', 'Gate', '{}')`)
    await tx
      .insert(setting)
      .values({ name: 'sms', value: { token: loadSecrets(data).encrypt('plugh') } })
    const sha256 = createHash('sha256').update(jpeg).digest('hex')
    await tx
      .insert(image)
      .values({ image_id: id(4), path: 'door.jpg', type: 'image', sha256, bytes: jpeg.length })
  })
}

function createDataFolder(): string {
  const data = createTemporaryFolder()
  loadSecrets(data)
  for (const folder of [
    'engine',
    'management/images',
    'models/eye',
    'recordings',
    'engine/output',
  ]) {
    mkdirSync(join(data, folder), { recursive: true })
  }
  writeFileSync(join(data, 'engine/configuration.json'), '{"sources":[]}')
  writeFileSync(join(data, 'management/images/door.jpg'), jpeg)
  writeFileSync(join(data, 'models/eye/model.onnx'), Buffer.alloc(3 << 20, 7))
  writeFileSync(join(data, 'models/eye/empty.txt'), '')
  writeFileSync(join(data, 'recordings/large.mp4'), 'no part of a backup')
  writeFileSync(join(data, 'engine/output/log'), 'no part of a backup')
  return data
}
