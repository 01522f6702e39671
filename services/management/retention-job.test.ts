import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../test/fixtures/management/test-database.ts'
import { localEngineEgress } from '../../test/fixtures/network/local-egress.ts'
import { shared } from '../../test/fixtures/setup/shared.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { systemAlert } from './db/schema/index.ts'
import { createEvents } from './events/events.ts'
import { createRetentionJob } from './retention-job.ts'

const log = createLog('management', 'silent')
const { signal } = new AbortController()
const DAY_MS = 86_400_000
const retentionDays = 5
const today = Date.parse('2026-03-04T12:00:00Z')
const wrong = Date.parse('2038-01-19T03:14:07Z')
const sha256 = 'a'.repeat(64)

const testDatabase = shared(createTestDatabase, ({ remove }) => remove())

/** An appliance with an event, a statistic, an ended system alert and a picture of today. */
async function createAppliance() {
  const { database } = testDatabase
  const data = createTemporaryFolder()
  const picture = join(data, 'management/pictures/aa', `${sha256}.jpg`)
  mkdirSync(join(picture, '..'), { recursive: true })
  writeFileSync(picture, 'x')
  const at = new Date(today).toISOString()
  await database.system('test', async tx => {
    await tx.execute(sql`
      insert into event (engine_id, log_id, seq, time, channel_id, kind, data)
      values (gen_random_uuid(), 'log', 1, ${at}, gen_random_uuid(), 'event', '{}')`)
    await tx.execute(sql`
      insert into statistic_minute (channel_id, key, minute, sum, count, last, last_at)
      values (gen_random_uuid(), 'up', ${at}, 1, 1, 1, ${at})`)
    await tx.execute(sql`
      insert into picture (sha256, engine_id, time, is_stored, fetched_at)
      values (${sha256}, gen_random_uuid(), ${at}, true, ${at})`)
    await tx.insert(systemAlert).values({
      kind: 'clock_wrong',
      subject: 'engine',
      subject_name: 'engine',
      message: '',
      began_at: new Date(today),
      opened_at: new Date(today),
      last_seen_at: new Date(today),
      ended_at: new Date(today),
    })
  })

  return {
    /** Runs the job at a time, in a service that has just been started. */
    async run(nowMs: number, isDiskFull = false) {
      const events = createEvents({
        data,
        findAddress: async () => undefined,
        egress: localEngineEgress,
        subscribers: [],
        retentionMs: retentionDays * DAY_MS,
        now: () => nowMs,
        log,
      })
      const work = createRetentionJob({
        data,
        events,
        retentionDays,
        isDiskFull: () => isDiskFull,
        now: () => nowMs,
        log,
      })
      return work({ database, signal, log })
    },
    async countRemaining() {
      const [counts] = await database.system('test', tx =>
        tx.execute(sql`
          select (select count(*)::int from event) as events,
            (select count(*)::int from statistic_minute) as minutes,
            (select count(*)::int from system_alert) as alerts,
            (select count(*)::int from picture) as pictures`),
      )
      return { ...counts, files: Number(existsSync(picture)) }
    },
  }
}

const all = { events: 1, minutes: 1, alerts: 1, pictures: 1, files: 1 }
const none = { events: 0, minutes: 0, alerts: 0, pictures: 0, files: 0 }

describe('the job retention', () => {
  beforeEach(() =>
    testDatabase.database.system('test', async tx => {
      for (const table of ['event', 'statistic_minute', 'picture', 'system_alert', 'job']) {
        await tx.execute(sql`delete from ${sql.identifier(table)}`)
      }
    }),
  )

  it('deletes what has expired', async () => {
    const appliance = await createAppliance()
    for (let days = 0; days <= 5; days += 1) await appliance.run(today + days * DAY_MS)
    expect(await appliance.countRemaining()).toEqual(all)
    expect(await appliance.run(today + 6 * DAY_MS)).toBe('deleted what is older than 5 days')
    expect(await appliance.countRemaining()).toEqual({ ...none, alerts: 1 })
  })

  it('deletes nothing because of a clock that has leapt ahead, also after a restart', async () => {
    const appliance = await createAppliance()
    await appliance.run(today)
    for (let restart = 0; restart < 2; restart += 1) {
      expect(await appliance.run(wrong)).toMatch(
        /^deleted what .*; the clock has leapt ahead, and is trusted from 2038-01-20T03:14:0/,
      )
    }
    expect(await appliance.countRemaining()).toEqual(all)
  })

  it('compares the clock with the last run if it has no history yet', async () => {
    const appliance = await createAppliance()
    const at = new Date(today).toISOString()
    await testDatabase.database.system('test', tx =>
      tx.execute(sql`insert into job (name, succeeded_at) values ('retention', ${at})`),
    )
    await appliance.run(wrong)
    expect(await appliance.countRemaining()).toEqual(all)
  })

  it('deletes by the clock that may be wrong when the disk is full', async () => {
    const appliance = await createAppliance()
    await appliance.run(today)
    await appliance.run(wrong, true)
    expect(await appliance.countRemaining()).toEqual(none)
  })
})
