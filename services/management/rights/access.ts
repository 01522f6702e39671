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

/** Throws EyrieError `auth` where nobody has signed in, `rights` where role or API token do not reach. */
export function authorize(route: ManagementRoute, principal: Principal | undefined): void {
  if (principal?.scopes) checkScopes(route, principal.scopes)
  if (route.access === 'anyone') return
  if (!principal) throw new EyrieError('auth', 'sign in first: POST /api/v1/user/auth gives an access token')
  const least = leastRole[route.access]
  if (least && !reaches(principal.role, least))
    throw new EyrieError(
      'rights',
      `${route.summary} takes the role ${least}, and yours is ${principal.role ?? 'none yet'}`,
    )
}

/** Whether a role may what the other may. */
export const reaches = (role: Role | null, least: Role) =>
  role !== null && roles.indexOf(role) <= roles.indexOf(least)

function checkScopes(route: ManagementRoute, scopes: readonly string[]) {
  if (route.requiresSession)
    throw new EyrieError('rights', `${route.summary}: sign in for this, for no API token reaches it`)
  const needed = scopeOf(route)
  if (!scopes.includes(needed) && !scopes.includes(needed.split(':')[0]!))
    throw new EyrieError(
      'rights',
      `this API token does not reach so far: ${route.summary} takes the scope ${needed}`,
    )
}

/** What an API token has to be made for to call a route: `read` or `write`, and the first part of its path. */
export function scopeOf(route: ManagementRoute): string {
  return `${isRead(route) ? 'read' : 'write'}:${route.path.split('/')[1]}`
}

/** Whether a route changes nothing. */
export const isRead = ({ method, readOnly }: ManagementRoute) => method === 'get' || readOnly === true
