import { appendFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { customer } from '../db/schema/index.ts'
import { check } from './check.ts'
import { id, jpeg, useInstallation } from './installation.fixture.ts'

const installation = useInstallation()

describe('check', () => {
  it('finds images without a record, records without an image, and altered images', async () => {
    appendFileSync(join(installation.data, 'management/images/door.jpg'), 'x')
    writeFileSync(join(installation.data, 'management/images/stray.jpg'), jpeg)
    const findViolations = async () =>
      (await check(installation.database.target, installation.data)).map(({ what }) => what)
    expect(await findViolations()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/stray\.jpg$/),
        expect.stringMatching(/door\.jpg has changed$/),
      ]),
    )
    rmSync(join(installation.data, 'management/images/door.jpg'))
    expect(await findViolations()).toContainEqual(expect.stringMatching(/door\.jpg is missing$/))
  })

  it('finds secrets that cannot be decrypted with the key, and does not create a key', async () => {
    rmSync(join(installation.data, 'secrets'), { recursive: true })
    expect(await check(installation.database.target, installation.data)).toContainEqual(
      expect.objectContaining({
        says: expect.stringContaining('every secret can be decrypted'),
        what: 'setting sms',
      }),
    )
    expect(() => statSync(join(installation.data, 'secrets'))).toThrow('ENOENT')
  })

  it('finds an organization without a default customer, and a cursor behind the stored events', async () => {
    await installation.database.database.system('test', tx =>
      tx.update(customer).set({ is_default: false }),
    )
    await installation.database.database.system('test', async tx => {
      await tx.execute(sql`
        insert into engine (engine_id, engine_name, engine_address, engine_port, engine_is_secure, engine_timeout, engine_retry)
        values (${id(5)}, 'Box', 'box', 8100, false, '5s', '{}') on conflict do nothing`)
      await tx.execute(sql`
        insert into engine_state (engine_id, log_id, seq) values (${id(5)}, 'log', 7)
        on conflict (engine_id) do update set log_id = 'log', seq = 7`)
    })
    const violations = (await check(installation.database.target, installation.data)).map(
      ({ what }) => what,
    )
    expect(violations).toEqual(
      expect.arrayContaining(['acme', 'Box: followed to 7, stored up to 20000']),
    )
    await installation.database.database.system('test', tx => tx.execute(sql`delete from engine`))
  })
})
