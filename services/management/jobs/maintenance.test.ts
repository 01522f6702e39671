import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JobName } from '@eyrie/contract/jobs'
import { createLog } from '@eyrie/kit'
import { generateIssuerKeys, signPool } from '@eyrie/license'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { createCertificate } from '../../../test/fixtures/network/certificate.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { image, picture } from '../db/schema/index.ts'
import { createExpiryCheck, findExpiries } from './check-expiry.ts'
import { cleanPictures } from './clean-pictures.ts'
import { createJobGuard } from './job-guard.ts'
import type { JobRunner } from './job-runner.ts'
import { claimRun, finishRun, storePlan } from './job-store.ts'
import { maintainDatabase } from './maintain-database.ts'

const testDatabase = shared(createTestDatabase, ({ remove }) => remove())
const log = createLog('management', 'silent')
const { signal } = new AbortController()
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const context = () => ({ database: testDatabase.database, signal, log })

describe('the job pictures', () => {
  it('deletes old files that no record refers to, and nothing else', async () => {
    const folder = createTemporaryFolder()
    const [pictures, images] = [join(folder, 'pictures'), join(folder, 'images')]
    const used = 'a'.repeat(64)
    const unused = `a${'b'.repeat(63)}`
    const young = `a${'c'.repeat(63)}`
    const files = {
      used: join(pictures, 'aa', `${used}.jpg`),
      unused: join(pictures, 'ab', `${unused}.jpg`),
      partial: join(pictures, 'ab', `${unused}.jpg.new`),
      young: join(pictures, 'ac', `${young}.jpg`),
      usedImage: join(images, 'door.jpg'),
      unusedImage: join(images, 'old.jpg'),
    }
    for (const path of [join(pictures, 'aa'), join(pictures, 'ab'), join(pictures, 'ac'), images]) {
      mkdirSync(path, { recursive: true })
    }
    const old = new Date(Date.now() - 2 * DAY_MS)
    for (const [name, path] of Object.entries(files)) {
      writeFileSync(path, 'x')
      if (name !== 'young') utimesSync(path, old, old)
    }
    await testDatabase.database.system('test', async tx => {
      const engineId = '00000000-0000-7000-8000-000000000001'
      await tx
        .insert(picture)
        .values({ sha256: used, engine_id: engineId, time: new Date(), is_stored: true })
      await tx.insert(image).values({ path: 'door.jpg', type: 'image', sha256: used, bytes: 1 })
    })

    const options = { pictures, images, now: Date.now }
    expect(await cleanPictures(context(), options)).toBe('deleted 3 unused files with 0.0 MB')
    const left = Object.entries(files).filter(([, path]) => existsSync(path))
    expect(left.map(([name]) => name)).toEqual(['used', 'young', 'usedImage'])
    expect(await cleanPictures(context(), options)).toBe('no unused files')
    const missing = { ...options, pictures: join(folder, 'none'), images: join(folder, 'none') }
    expect(await cleanPictures(context(), missing)).toBe('no unused files')
  })
})

describe('the job database', () => {
  it('removes dead rows, updates statistics of partitioned tables and rebuilds invalid indexes', async () => {
    const { database } = testDatabase
    await database.system('test', async tx => {
      await tx.execute(sql`
        insert into event (engine_id, log_id, seq, time, channel_id, kind, data)
        select gen_random_uuid(), 'log', n, now(), gen_random_uuid(), 'event', '{}' from generate_series(1, 5000) n`)
      await tx.execute(sql`delete from event where seq > 100`)
      await tx.execute(sql`create table worn (n int)`)
      await tx.execute(sql`insert into worn select 1 from generate_series(1, 3)`)
    })
    // A unique index that cannot be built remains invalid.
    await expect(
      database.maintain('create unique index concurrently worn_n on worn (n)', signal),
    ).rejects.toThrow()
    await database.system('test', tx => tx.execute(sql`delete from worn where ctid <> '(0,1)'`))

    const message = await maintainDatabase(context())
    expect(message).toMatch(
      /^maintained \d+ of \d+ tables with .* MB; largest: .*; rebuilt the indexes worn_n$/,
    )
    const [state] = await database.system('test', tx =>
      tx.execute<{ valid: boolean; analyzed: boolean }>(sql`
        select (select indisvalid from pg_index where indexrelid = 'worn_n'::regclass) as valid,
          (select reltuples = 100 from pg_class where oid = 'event'::regclass) as analyzed`),
    )
    expect(state).toEqual({ valid: true, analyzed: true })
    await database.system('test', tx => tx.execute(sql`drop table worn`))
  })

  it('stops at its time limit', async () => {
    const aborted = AbortSignal.timeout(1)
    await expect(testDatabase.database.maintain('select pg_sleep(600)', aborted)).rejects.toThrow(
      'timeout',
    )
  })
})

describe('the job expiry', () => {
  const now = Date.parse('2026-06-01T00:00:00Z')
  const issuer = generateIssuerKeys()
  const license = { customer: 'acme', subscription: 'gold', pool: 'box-1' }

  function createOptions(until: string) {
    const file = join(createTemporaryFolder(), 'pool.json')
    writeFileSync(
      file,
      signPool(
        [
          { ...license, until },
          { ...license, pool: 'box-2' },
        ],
        issuer.privateKey,
      ),
    )
    const activation = { activated: true, license: { version: 1, ...license } }
    return {
      tls: undefined,
      licensePool: { file, public_key: issuer.publicKey },
      engine: { get: async () => activation as never },
      now: () => now,
    }
  }

  it.each([
    ['2026-06-11T00:00:00Z', ['the license gold of acme ends on 2026-06-11, in 10 days']],
    ['2026-05-31T00:00:00Z', ['the license gold of acme has ended on 2026-05-31']],
    ['2026-07-02T00:00:00Z', []],
  ])('reports a license that ends on %s', async (until, descriptions) => {
    const expiries = await findExpiries(createOptions(until))
    expect(expiries.map(({ description }) => description.split(':')[0])).toEqual(descriptions)
  })

  it('reports a certificate, raises an alarm, and drops the alarm when it is replaced', async () => {
    const { cert, key } = createCertificate(createTemporaryFolder())
    const tls = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    let moment = Date.now() + 100 * 365 * DAY_MS
    const check = createExpiryCheck({
      ...createOptions('2030-01-01T00:00:00Z'),
      licensePool: undefined,
      tls,
      now: () => moment,
    })
    expect(await check.run({ log })).toMatch(
      /^the certificate of EYRIE_TLS_CERT has ended on .*: replace it/,
    )
    expect(check.alarms()).toHaveLength(1)
    moment = 0
    expect(await check.run({ log })).toBe('nothing ends within 30 days')
    expect(check.alarms()).toEqual([])
  })
})

describe('the guard of the jobs', () => {
  async function createGuard(isDiskFull: boolean, delayMs: number) {
    const started: JobName[] = []
    const runner = {
      runNow: async (_: unknown, name: JobName) => void started.push(name),
    } as unknown as JobRunner
    const guard = createJobGuard({
      runner,
      isDiskFull: () => isDiskFull,
      now: () => Date.now() + delayMs,
    })
    await guard.check(testDatabase.database)
    return { started, alarms: guard.alarms() }
  }

  it('deletes expired data when the scheduler has not for a day, or the disk is full', async () => {
    expect((await createGuard(false, 0)).started).toEqual(['retention', 'deliveries'])
    const runId = crypto.randomUUID()
    await testDatabase.database.system('test', async tx => {
      for (const name of ['retention', 'deliveries'] as const) {
        await claimRun(tx, name, runId)
        await finishRun(tx, { name, run_id: runId }, { state: 'succeeded', message: '' })
      }
    })
    expect((await createGuard(false, 25 * HOUR_MS)).started).toEqual([])
    expect((await createGuard(true, 0)).started).toEqual([])
    expect((await createGuard(true, HOUR_MS)).started).toEqual(['retention'])
    expect((await createGuard(false, 27 * HOUR_MS)).started).toEqual(['retention', 'deliveries'])
  })

  it('reports a job that has failed, and jobs that are not started', async () => {
    const runId = crypto.randomUUID()
    await testDatabase.database.system('test', async tx => {
      await claimRun(tx, 'backup', runId)
      await finishRun(
        tx,
        { name: 'backup', run_id: runId },
        { state: 'failed', message: 'create the bucket' },
      )
      await storePlan(tx, [{ job_name: 'expiry', next_run_at: new Date().toISOString() }])
    })
    expect((await createGuard(false, 0)).alarms).toEqual([
      'the job backup has failed: create the bucket',
    ])
    expect((await createGuard(false, 2 * HOUR_MS)).alarms[1]).toMatch(
      /^the scheduler has not started the jobs expiry for more than an hour/,
    )
  })
})
