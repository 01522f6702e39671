import type { GroupRole } from '@eyrie/contract/management/index'
import { ROLES, type Role } from '../../rights/principal.ts'

/** The rights of a user that follow from the groups at the identity provider. */
export interface GroupRights {
  role_key: Role
  organization_id: string | null
  customer_ids: string[]
  site_ids: string[]
}

/**
 * Returns the rights of the members of these groups, or undefined if none of the groups has a role.
 * A user has one role, so only the entries with the highest role count. If the assignments of the
 * other entries counted too, the user would have the highest role for them, which no entry grants.
 * The customers and sites of the counting entries are added up. The organization is that of the
 * first entry that names one.
 */
export function findGroupRights(
  groups: readonly string[],
  mapping: readonly GroupRole[],
): GroupRights | undefined {
  const matching = mapping.filter(({ group }) => groups.includes(group))
  const roleKey = ROLES.find(role => matching.some(entry => entry.role_key === role))
  if (!roleKey) return undefined

  const counting = matching.filter(entry => entry.role_key === roleKey)
  const addUp = (key: 'customer_ids' | 'site_ids') => [
    ...new Set(counting.flatMap(entry => entry[key])),
  ]
  return {
    role_key: roleKey,
    organization_id:
      counting.find(entry => entry.organization_id !== null)?.organization_id ?? null,
    customer_ids: addUp('customer_ids'),
    site_ids: addUp('site_ids'),
  }
}
