import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { organizationInput } from '../../../test/fixtures/hierarchy.ts'
import { createTestDatabase } from '../../../test/fixtures/management-database.ts'
import { unassigned } from '../../../test/fixtures/principal.ts'
import { shared } from '../../../test/fixtures/shared.ts'
import type { Principal } from '../rights/principal.ts'
import { connect } from './connection.ts'
import { audit, organization, setting } from './schema/index.ts'

const its = shared(createTestDatabase, ({ remove }) => remove())
beforeEach(() =>
  its.database.system('test', tx => tx.execute(sql`delete from organization; delete from setting`)),
)

const nobody = unassigned('admin')
const acme = organizationInput('acme')

const make = async (values = acme) => {
  const [made] = await its.database.system('test', tx => tx.insert(organization).values(values).returning())
  return made!.organization_id
}
const seenBy = (principal: Principal) =>
  its.database.as(principal, 'test', tx => tx.select().from(organization))

describe('what is done in the database', () => {
  test('sees nothing where nobody says who asks', async () => {
    await make()
    const { role } = its.database
    const bare = connect(its.target, role ? { role } : {})
    expect(await bare`select * from organization`).toHaveLength(0)
    await expect(bare`insert into setting values ('sms', '{}')`).rejects.toThrow('row-level security')
    await bare.end()
  })

  test('sees what the rights of the user show, and everything as the appliance itself', async () => {
    const id = await make()
    await make({ ...acme, organization_key: 'other' })
    expect(await seenBy(nobody)).toEqual([])
    expect(await seenBy({ ...nobody, organizations: [id], memberships: [id] })).toMatchObject([acme])
    expect(await seenBy({ ...nobody, role: 'superadmin' })).toHaveLength(2)
    expect(await its.database.system('test', tx => tx.select().from(organization))).toHaveLength(2)
  })

  test('carries no rights from one piece of work to the next on the same connection', async () => {
    const id = await make()
    for (let n = 0; n < 20; n += 1) {
      expect(await seenBy({ ...nobody, role: 'superadmin' })).toHaveLength(1)
      expect(await seenBy(nobody)).toHaveLength(0)
      expect(await seenBy({ ...nobody, memberships: [id] })).toHaveLength(1)
    }
  })

  test('changes nothing beyond the rights of the user', async () => {
    const id = await make()
    const member = { ...nobody, memberships: [id] }
    await its.database.as(member, 'test', tx => tx.update(organization).set({ organization_name: 'Mine' }))
    await its.database.as(member, 'test', tx => tx.delete(organization))
    expect(await seenBy(member)).toMatchObject([acme])
    await expect(
      its.database.as(member, 'test', tx =>
        tx.insert(organization).values({ ...acme, organization_key: 'b' }),
      ),
    ).rejects.toMatchObject({ cause: { code: '42501' } })
  })

  test('is undone where it fails, and can be done again', async () => {
    const failing = its.database.system('test', async tx => {
      await tx.insert(setting).values({ name: 'sms', value: {} })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await its.database.system('test', tx => tx.select().from(setting))).toEqual([])
  })

  test('keeps nothing where a part of it fails, even if the work goes on', async () => {
    const swallowing = its.database.system('test', async tx => {
      await tx.insert(setting).values({ name: 'sms', value: {} })
      await tx.execute(sql`select 1 / 0`).catch(() => {})
    })
    await expect(swallowing).rejects.toThrow('was rolled back because one of its queries failed')
    expect(await its.database.system('test', tx => tx.select().from(setting))).toEqual([])
  })

  test('is done once more where two pieces of work met', async () => {
    await its.database.system('test', tx => tx.insert(setting).values({ name: 'count', value: 0 }))
    const config = { isolationLevel: 'serializable' } as const
    const increment = () =>
      its.database.system(
        'test',
        async tx => {
          const [row] = await tx.select().from(setting)
          await tx.update(setting).set({ value: (row!.value as number) + 1 })
        },
        config,
      )
    await Promise.all([increment(), increment(), increment()])
    expect(await its.database.system('test', tx => tx.select().from(setting))).toMatchObject([{ value: 3 }])
  })

  test('waits for a connection where all are taken', async () => {
    const work = Array.from({ length: 40 }, (_, n) =>
      its.database.system(
        'test',
        async tx => (await tx.execute<{ n: number }>(sql`select ${n}::int as n`))[0]?.n,
      ),
    )
    expect(await Promise.all(work)).toEqual(Array.from({ length: 40 }, (_, n) => n))
  })

  test('is unavailable where its connection is lost, and leaves the next work alone', async () => {
    const killer = connect(its.target)
    const pid = async (work: { pid: number }) =>
      (await killer`select pg_terminate_backend(${work.pid})`) && (await killer`select pg_sleep(0)`)
    const failing = its.database.system('test', async tx => {
      const [backend] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      const answer = tx.execute(sql`select pg_sleep(30)`)
      await pid(backend!)
      await answer.catch(() => {})
      // As work does that goes on all the same: nothing of it may reach another's transaction.
      await tx.insert(setting).values({ name: 'stray', value: 1 })
    })
    const others = Array.from({ length: 20 }, () =>
      its.database.system('test', tx => tx.select().from(setting)),
    )
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    expect(new Set((await Promise.all(others)).map(rows => rows.length))).toEqual(new Set([0]))
    expect(await its.database.system('test', tx => tx.select().from(setting))).toEqual([])
    await killer.end()
  })
})

test('what is told on a channel is heard, also after the connection was lost', async () => {
  const heard: string[] = []
  let begun = 0
  const stop = its.database.listen(
    'test_channel',
    payload => heard.push(payload),
    () => {
      begun += 1
    },
  )
  await vi.waitUntil(() => begun === 1)
  const killer = connect(its.target)
  const tell = (word: string) => killer`select pg_notify('test_channel', ${word})`
  await tell('one')
  await vi.waitUntil(() => heard.length === 1)
  await killer`
    select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and datname = current_database()`
  await vi.waitUntil(() => begun === 2)
  await tell('two')
  await vi.waitFor(() => expect(heard).toEqual(['one', 'two']))
  await stop()
  await killer.end()
})

describe('the audit', () => {
  const entries = (record: string) =>
    its.database.system('test', tx => tx.select().from(audit).where(sql`record = ${record} and actor <> ''`))

  test('says who changed what, by which operation', async () => {
    const owner = { ...nobody, role: 'superadmin' as const }
    const id = await its.database.as(owner, '/organization/create', async tx => {
      const [made] = await tx.insert(organization).values(acme).returning()
      return made!.organization_id
    })
    await its.database.as(owner, '/organization/update', tx =>
      tx.update(organization).set({ organization_name: 'New' }),
    )
    await its.database.as(owner, '/organization/update', tx =>
      tx.update(organization).set({ organization_name: 'New' }),
    )
    await its.database.as(owner, '/organization/delete', tx => tx.delete(organization))
    const by = { user_id: owner.user_id, actor: owner.actor, record_id: id, organization_id: id }
    expect(await entries('organization')).toMatchObject([
      { ...by, operation: '/organization/create', change: 'create', before: null, after: acme },
      {
        ...by,
        operation: '/organization/update',
        change: 'update',
        before: { organization_name: acme.organization_name },
        after: { organization_name: 'New' },
      },
      { ...by, operation: '/organization/delete', change: 'delete', after: null },
    ])
  })

  test('shows that a secret was changed, and not the secret', async () => {
    const owner = { ...nobody, role: 'superadmin' as const }
    const write = (value: object) =>
      its.database.as(owner, 'test', tx =>
        tx
          .insert(setting)
          .values({ name: 'sms', value })
          .onConflictDoUpdate({ target: setting.name, set: { value } }),
      )
    await write({ token: 'xyzzy' })
    await write({ token: 'plugh' })
    const written = await entries('setting')
    expect(written).toMatchObject([
      { change: 'create', after: { name: 'sms', value: '***' } },
      { change: 'update', before: { value: '***' }, after: { value: '***' } },
    ])
    expect(JSON.stringify(written)).not.toMatch(/xyzzy|plugh/)
  })

  test('is written by nobody but the triggers', async () => {
    const forged = { record: 'site', record_id: '1', change: 'delete' as const }
    const admin = { ...nobody, organizations: [await make()] }
    await expect(its.database.as(admin, 'test', tx => tx.insert(audit).values(forged))).rejects.toMatchObject(
      {
        cause: { code: '42501' },
      },
    )
  })
})
