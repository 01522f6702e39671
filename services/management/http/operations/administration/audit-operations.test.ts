import { managementRoutes } from '@eyrie/contract/management/index'
import { beforeAll, expect, test } from 'vitest'
import { organizationInput } from '../../../../../test/fixtures/management/hierarchy.ts'
import { insertRecords } from '../../../../../test/fixtures/management/records.ts'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../../test/fixtures/management/shared-management.ts'

const { list } = managementRoutes.audit
const { update } = managementRoutes.organization

const management = sharedManagement()
const records = sharedRecords(management)
beforeAll(async () => {
  const { organization_id } = records
  for (const name of ['first', 'second', 'third']) {
    await management.call(update, { ...organizationInput(name), organization_id })
  }
}, 180_000)

const changes = (more = {}) => ({
  record: 'organization',
  record_id: records.organization_id,
  ...more,
})

test('changes are listed with their author, newest first', async () => {
  const [newest] = (await management.call(list, changes())).response
  const { user_id, email } = management.superadmin
  const who = { user_id, actor: email, operation: update.path }
  expect(newest).toMatchObject({ ...who, record: 'organization', change: 'update' })
  expect(newest!.before).toMatchObject({ organization_key: 'second' })
  expect(newest!.after).toMatchObject({ organization_key: 'third' })
})

test('changes are listed by page, user and time', async () => {
  const keys = async (more: object) =>
    (await management.call(list, changes(more))).response.map(
      ({ after }) => after?.organization_key,
    )
  expect(await keys({ audit_limit: '1', audit_offset: '1' })).toEqual(['second'])
  expect(await keys({ user_id: management.superadmin.user_id })).toEqual([
    'third',
    'second',
    'first',
  ])
  expect(await keys({ user_id: records.user_id })).toEqual([])
  expect(await keys({ end: '-1h' })).toEqual([])
  expect(await keys({ start: '-1h', end: 'now', audit_limit: '5000' })).toHaveLength(4)
})

test('changes are hidden from admins of other organizations', async () => {
  const others = await insertRecords(management.database)
  const admin = await management.signIn('admin', { organization: others.organization_id })
  expect((await management.call(list, changes(), admin)).response).toEqual([])
  const own = (await management.call(list, { record_id: others.organization_id }, admin)).response
  expect(own.map(({ change }) => change)).toEqual(['create'])
})

test('changes never contain password hashes', async () => {
  const entries = (await management.call(list, { record: 'user', audit_limit: 1000 })).response
  expect(entries.length).toBeGreaterThan(0)
  for (const { after } of entries) expect(after?.password_hash).toBe('***')
})
