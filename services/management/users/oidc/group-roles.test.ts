import type { GroupRole } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { findGroupRights } from './group-roles.ts'

const entry = (
  group: string,
  roleKey: GroupRole['role_key'],
  rights: Partial<GroupRole> = {},
): GroupRole => ({
  group,
  role_key: roleKey,
  organization_id: null,
  customer_ids: [],
  site_ids: [],
  ...rights,
})

describe('the rights of groups', () => {
  it('are missing without a group that has a role', () => {
    expect(findGroupRights([], [entry('a', 'viewer')])).toBeUndefined()
    expect(findGroupRights(['A', 'b', ''], [entry('a', 'viewer')])).toBeUndefined()
  })

  it('add up the customers and sites of groups with the same role', () => {
    const mapping = [
      entry('a', 'manager', { customer_ids: ['c1'], site_ids: ['s1'] }),
      entry('b', 'manager', { customer_ids: ['c1', 'c2'], organization_id: 'o2' }),
      entry('c', 'manager', { organization_id: 'o3' }),
    ]
    expect(findGroupRights(['c', 'b', 'a'], mapping)).toEqual({
      role_key: 'manager',
      organization_id: 'o2',
      customer_ids: ['c1', 'c2'],
      site_ids: ['s1'],
    })
  })

  it('do not extend the highest role to the assignments of a lower one', () => {
    const mapping = [
      entry('viewers', 'viewer', { site_ids: ['other'], organization_id: 'other' }),
      entry('admins', 'admin', { customer_ids: ['own'] }),
    ]
    expect(findGroupRights(['viewers', 'admins'], mapping)).toEqual({
      role_key: 'admin',
      organization_id: null,
      customer_ids: ['own'],
      site_ids: [],
    })
  })
})
