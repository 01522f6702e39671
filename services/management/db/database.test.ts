import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { organizationInput } from '../../../test/fixtures/management/hierarchy.ts'
import { createUnassignedPrincipal } from '../../../test/fixtures/management/principal.ts'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import type { Principal } from '../rights/principal.ts'
import { connect } from './connection.ts'
import { audit, organization, setting } from './schema/index.ts'

const its = shared(createTestDatabase, ({ remove }) => remove())
beforeEach(() =>
  its.database.system('test', tx => tx.execute(sql`delete from organization; delete from setting`)),
)

const admin = createUnassignedPrincipal('admin')
const superadmin = { ...admin, role: 'superadmin' as const }
const acme = organizationInput('acme')

async function createOrganization(values = acme): Promise<string> {
  const [created] = await its.database.system('test', tx =>
    tx.insert(organization).values(values).returning(),
  )
  return created!.organization_id
}
const listOrganizations = (principal: Principal) =>
  its.database.as(principal, 'test', tx => tx.select().from(organization))
const listSettings = () => its.database.system('test', tx => tx.select().from(setting))

describe('transaction rights', () => {
  it('hide all rows outside of a transaction', async () => {
    await createOrganization()
    const { role } = its.database
    const plain = connect(its.target, role ? { role } : {})
    expect(await plain`select * from organization`).toHaveLength(0)
    await expect(plain`insert into setting values ('sms', '{}')`).rejects.toThrow(
      'row-level security',
    )
    await plain.end()
  })

  it('show a user the assigned records, and the appliance all records', async () => {
    const id = await createOrganization()
    await createOrganization({ ...acme, organization_key: 'other' })
    expect(await listOrganizations(admin)).toEqual([])
    expect(
      await listOrganizations({ ...admin, organizations: [id], memberships: [id] }),
    ).toMatchObject([acme])
    expect(await listOrganizations(superadmin)).toHaveLength(2)
    expect(await its.database.system('test', tx => tx.select().from(organization))).toHaveLength(2)
  })

  it('do not carry over to the next transaction on the same connection', async () => {
    const id = await createOrganization()
    for (let n = 0; n < 20; n += 1) {
      expect(await listOrganizations(superadmin)).toHaveLength(1)
      expect(await listOrganizations(admin)).toHaveLength(0)
      expect(await listOrganizations({ ...admin, memberships: [id] })).toHaveLength(1)
    }
  })

  it('prevent changes of visible records that the user may not change', async () => {
    const id = await createOrganization()
    const member = { ...admin, memberships: [id] }
    await its.database.as(member, 'test', tx =>
      tx.update(organization).set({ organization_name: 'Mine' }),
    )
    await its.database.as(member, 'test', tx => tx.delete(organization))
    expect(await listOrganizations(member)).toMatchObject([acme])
    await expect(
      its.database.as(member, 'test', tx =>
        tx.insert(organization).values({ ...acme, organization_key: 'b' }),
      ),
    ).rejects.toMatchObject({ cause: { code: '42501' } })
  })
})

describe('transaction', () => {
  it('is rolled back when its work fails', async () => {
    const failing = its.database.system('test', async tx => {
      await tx.insert(setting).values({ name: 'sms', value: {} })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await listSettings()).toEqual([])
  })

  it('is rolled back, and rejected, when its work ignores a failed query', async () => {
    const ignoring = its.database.system('test', async tx => {
      await tx.insert(setting).values({ name: 'sms', value: {} })
      await tx.execute(sql`select 1 / 0`).catch(() => {})
    })
    await expect(ignoring).rejects.toThrow('was rolled back because one of its queries failed')
    expect(await listSettings()).toEqual([])
  })

  it('fails with the reason, the code and the table, but without the statement and its parameters', async () => {
    const values = { name: 'sms', value: { token: 'xyzzy' } }
    const failing = its.database.system('test', async tx => {
      await tx.insert(setting).values(values)
      await tx.insert(setting).values(values)
    })
    const error = await failing.catch(reason => reason)
    expect(error).toMatchObject({ message: 'query failed', code: '23505', table: 'setting' })
    const logged = JSON.stringify(pino.stdSerializers.err(error))
    expect(logged).toContain('duplicate key value violates unique constraint')
    expect(logged).not.toMatch(/insert into|xyzzy/)
  })

  it('is repeated after a conflict with a concurrent transaction', async () => {
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
    expect(await listSettings()).toMatchObject([{ value: 3 }])
  })

  it('waits for a free connection', async () => {
    const work = Array.from({ length: 40 }, (_, n) =>
      its.database.system(
        'test',
        async tx => (await tx.execute<{ n: number }>(sql`select ${n}::int as n`))[0]?.n,
      ),
    )
    expect(await Promise.all(work)).toEqual(Array.from({ length: 40 }, (_, n) => n))
  })

  it('is rejected as unavailable when its connection is lost, without effect on other transactions', async () => {
    const administration = connect(its.target)
    const terminate = async ({ pid }: { pid: number }) =>
      (await administration`select pg_terminate_backend(${pid})`) &&
      (await administration`select pg_sleep(0)`)
    const failing = its.database.system('test', async tx => {
      const [backend] = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      const answer = tx.execute(sql`select pg_sleep(30)`)
      await terminate(backend!)
      await answer.catch(() => {})
      // Work that ignores the loss must not write into another transaction.
      await tx.insert(setting).values({ name: 'stray', value: 1 })
    })
    const others = Array.from({ length: 20 }, listSettings)
    await expect(failing).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    expect(new Set((await Promise.all(others)).map(rows => rows.length))).toEqual(new Set([0]))
    expect(await listSettings()).toEqual([])
    await administration.end()
  })
})

describe('listening on a channel', () => {
  it('receives notifications, and resumes after the connection is lost', async () => {
    const received: string[] = []
    let starts = 0
    const stop = its.database.listen(
      'test_channel',
      payload => received.push(payload),
      () => {
        starts += 1
      },
    )
    await vi.waitUntil(() => starts === 1)
    const administration = connect(its.target)
    const notify = (payload: string) => administration`select pg_notify('test_channel', ${payload})`
    await notify('one')
    await vi.waitUntil(() => received.length === 1)
    await administration`
      select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and datname = current_database()`
    await vi.waitUntil(() => starts === 2)
    await notify('two')
    await vi.waitFor(() => expect(received).toEqual(['one', 'two']))
    await stop()
    await administration.end()
  })
})

describe('audit log', () => {
  const listEntries = (record: string) =>
    its.database.system('test', tx =>
      tx.select().from(audit).where(sql`record = ${record} and actor <> ''`),
    )

  it('records who changed a record, by which operation, before and after', async () => {
    const id = await its.database.as(superadmin, '/organization/create', async tx => {
      const [created] = await tx.insert(organization).values(acme).returning()
      return created!.organization_id
    })
    await its.database.as(superadmin, '/organization/update', tx =>
      tx.update(organization).set({ organization_name: 'New' }),
    )
    await its.database.as(superadmin, '/organization/update', tx =>
      tx.update(organization).set({ organization_name: 'New' }),
    )
    await its.database.as(superadmin, '/organization/delete', tx => tx.delete(organization))
    const by = {
      user_id: superadmin.user_id,
      actor: superadmin.actor,
      record_id: id,
      organization_id: id,
    }
    expect(await listEntries('organization')).toMatchObject([
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

  it('records that a secret changed, without its value', async () => {
    const write = (value: object) =>
      its.database.as(superadmin, 'test', tx =>
        tx
          .insert(setting)
          .values({ name: 'sms', value })
          .onConflictDoUpdate({ target: setting.name, set: { value } }),
      )
    await write({ token: 'xyzzy' })
    await write({ token: 'plugh' })
    const entries = await listEntries('setting')
    expect(entries).toMatchObject([
      { change: 'create', after: { name: 'sms', value: '***' } },
      { change: 'update', before: { value: '***' }, after: { value: '***' } },
    ])
    expect(JSON.stringify(entries)).not.toMatch(/xyzzy|plugh/)
  })

  it('cannot be written to except by triggers', async () => {
    const forged = { record: 'site', record_id: '1', change: 'delete' as const }
    const administrator = { ...admin, organizations: [await createOrganization()] }
    await expect(
      its.database.as(administrator, 'test', tx => tx.insert(audit).values(forged)),
    ).rejects.toMatchObject({ cause: { code: '42501' } })
  })
})
