import {
  allManagementRoutes,
  type ManagementRoute,
  managementRoutes,
} from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import { authorize } from './access.ts'
import type { Principal } from './principal.ts'

const { audit, channel, organization, site, token } = managementRoutes

const createCaller = (rights: Pick<Principal, 'role' | 'scopes'>): Principal => ({
  ...{ user_id: 'user', actor: 'user@example.com', organizations: [], memberships: [] },
  ...{ customers: [], sites: [], channels: [], usecases: [] },
  ...rights,
})

describe('a caller without the required rights', () => {
  it.each<[string, ManagementRoute, Pick<Principal, 'role' | 'scopes'>, string]>([
    [
      'the required role and the role of the caller',
      audit.list,
      { role: 'viewer' },
      '"List audit entries" requires the role admin or a higher one, and your role is viewer: ask an administrator',
    ],
    [
      'the highest role alone, since no other includes it',
      organization.create,
      { role: 'admin' },
      '"Create an organization" requires the role superadmin, and your role is admin: ask an administrator',
    ],
    [
      'that the caller has no role',
      channel.update,
      { role: null },
      '"Update a channel" requires the role manager or a higher one, and you have no role yet: ask an administrator to assign one',
    ],
    [
      'the required scopes and those of the API token',
      site.create,
      { role: 'superadmin', scopes: ['read', 'write:alert'] },
      '"Create a site" requires the scope write:site or write, and this API token has only read, write:alert: create another token, or sign in',
    ],
    [
      'that an API token does not suffice',
      token.create,
      { role: 'superadmin', scopes: ['read', 'write'] },
      '"Create an API token" is not possible with an API token: sign in, and send the access token of POST /api/v1/user/auth',
    ],
  ])('learns %s', (_, route, rights, message) => {
    expect(() => authorize(route, createCaller(rights))).toThrow(message)
  })
})

it('the summaries that messages quote are phrases without additions', () => {
  expect(
    allManagementRoutes
      .map(({ summary }) => summary)
      .filter(summary => /;|, (newest|highest)/.test(summary)),
  ).toEqual([])
})
