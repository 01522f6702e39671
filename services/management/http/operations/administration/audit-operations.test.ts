import { managementRoutes } from '@eyrie/contract/management/index'
import { beforeAll, expect, test } from 'vitest'
import { organizationInput } from '../../../../../test/fixtures/hierarchy.ts'
import { plantRecords } from '../../../../../test/fixtures/management-records.ts'
import { sharedManagement, sharedRecords } from '../../../../../test/fixtures/shared-management.ts'

const { list } = managementRoutes.audit
const { update } = managementRoutes.organization

const its = sharedManagement()
const records = sharedRecords(its)
beforeAll(async () => {
  const { organization_id } = records
  for (const name of ['first', 'second', 'third'])
    await its.call(update, { ...organizationInput(name), organization_id })
}, 120_000)

const changes = (more = {}) => ({ record: 'organization', record_id: records.organization_id, ...more })

test('who changed what is listed, the newest first', async () => {
  const [newest] = (await its.call(list, changes())).response
  const { user_id, email } = its.superadmin
  const who = { user_id, actor: email, operation: update.path }
  expect(newest).toMatchObject({ ...who, record: 'organization', change: 'update' })
  expect(newest!.before).toMatchObject({ organization_key: 'second' })
  expect(newest!.after).toMatchObject({ organization_key: 'third' })
})

test('it is listed by pages, by user and by time', async () => {
  const keys = async (more: object) =>
    (await its.call(list, changes(more))).response.map(({ after }) => after?.organization_key)
  expect(await keys({ audit_limit: '1', audit_offset: '1' })).toEqual(['second'])
  expect(await keys({ user_id: its.superadmin.user_id })).toEqual(['third', 'second', 'first'])
  expect(await keys({ user_id: records.user_id })).toEqual([])
  expect(await keys({ end: '-1h' })).toEqual([])
  expect(await keys({ start: '-1h', end: 'now', audit_limit: '5000' })).toHaveLength(4)
})

test('an admin sees what happened in their organization, and nothing of others', async () => {
  const others = await plantRecords(its.database)
  const admin = await its.signIn('admin', { organization: others.organization_id })
  expect((await its.call(list, changes(), admin)).response).toEqual([])
  const own = (await its.call(list, { record_id: others.organization_id }, admin)).response
  expect(own.map(({ change }) => change)).toEqual(['create'])
})

test('it shows no password hashes', async () => {
  const entries = (await its.call(list, { record: 'user', audit_limit: 1000 })).response
  expect(entries.length).toBeGreaterThan(0)
  for (const { after } of entries) expect(after?.password_hash).toBe('***')
})
