import { appendFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { customer } from '../db/schema/index.ts'
import { check } from './check.ts'
import { id, jpeg, useInstallation } from './installation.fixture.ts'

const here = useInstallation()

describe('the check', () => {
  test('finds images without a record, records without an image, and those that have changed', async () => {
    appendFileSync(join(here.data, 'management/images/door.jpg'), 'x')
    writeFileSync(join(here.data, 'management/images/stray.jpg'), jpeg)
    const whats = async () => (await check(here.its.target, here.data)).map(({ what }) => what)
    expect(await whats()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/stray\.jpg$/),
        expect.stringMatching(/door\.jpg has changed$/),
      ]),
    )
    rmSync(join(here.data, 'management/images/door.jpg'))
    expect(await whats()).toContainEqual(expect.stringMatching(/door\.jpg is missing$/))
  })

  test('finds secrets that do not open with the key', async () => {
    rmSync(join(here.data, 'secrets'), { recursive: true })
    expect(await check(here.its.target, here.data)).toContainEqual(
      expect.objectContaining({ says: expect.stringContaining('every secret opens'), what: 'setting sms' }),
    )
    expect(() => statSync(join(here.data, 'secrets'))).toThrow('ENOENT')
  })

  test('finds an organization without a default customer, and a cursor behind what is stored', async () => {
    await here.its.database.system('test', tx => tx.update(customer).set({ is_default: false }))
    await here.its.database.system('test', async tx => {
      await tx.execute(sql`
        insert into engine (engine_id, engine_name, engine_address, engine_port, engine_is_secure, engine_timeout, engine_retry)
        values (${id(5)}, 'Box', 'box', 8100, false, '5s', '{}') on conflict do nothing`)
      await tx.execute(sql`
        insert into engine_state (engine_id, log_id, seq) values (${id(5)}, 'log', 7)
        on conflict (engine_id) do update set log_id = 'log', seq = 7`)
    })
    const whats = (await check(here.its.target, here.data)).map(({ what }) => what)
    expect(whats).toEqual(expect.arrayContaining(['acme', 'Box: followed to 7, stored up to 20000']))
    await here.its.database.system('test', tx => tx.execute(sql`delete from engine`))
  })
})
