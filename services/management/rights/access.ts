import { EyrieError } from '@eyrie/contract'
import type { Access, ManagementRoute } from '@eyrie/contract/management/index'
import { type Principal, type Role, roles } from './principal.ts'

/** The least of the roles that have each kind of access; null: none is needed. */
const leastRole: Record<Exclude<Access, 'anyone'>, Role | null> = {
  'signed-in': null,
  view: 'viewer',
  manage: 'manager',
  administer: 'admin',
  own: 'superadmin',
}

/** Throws EyrieError `auth` where nobody has signed in, `rights` where the role does not reach. */
export function authorize(route: ManagementRoute, principal: Principal | undefined): void {
  if (route.access === 'anyone') return
  if (!principal) throw new EyrieError('auth', 'sign in first: POST /api/v1/user/auth gives an access token')
  const least = leastRole[route.access]
  if (least && !reaches(principal.role, least))
    throw new EyrieError(
      'rights',
      `${route.summary} takes the role ${least}, and yours is ${principal.role ?? 'none yet'}`,
    )
}

const reaches = (role: Role | null, least: Role) =>
  role !== null && roles.indexOf(role) <= roles.indexOf(least)
