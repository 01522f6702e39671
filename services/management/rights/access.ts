import { EyrieError } from '@eyrie/contract'
import type { Access, ManagementRoute } from '@eyrie/contract/management/index'
import { type Principal, type Role, roles } from './principal.ts'

/** The lowest role with each kind of access. `null` admits users without a role. */
const minimumRole: Record<Exclude<Access, 'anyone'>, Role | null> = {
  'signed-in': null,
  view: 'viewer',
  manage: 'manager',
  administer: 'admin',
  own: 'superadmin',
}

/** Throws `EyrieError`: `auth` for an unauthenticated client, `rights` if the role or the API token's scopes do not suffice. */
export function authorize(route: ManagementRoute, principal: Principal | undefined): void {
  if (principal?.scopes) assertScopes(route, principal.scopes)
  if (route.access === 'anyone') return
  if (!principal)
    throw new EyrieError('auth', 'sign in first: POST /api/v1/user/auth returns an access token')
  const required = minimumRole[route.access]
  if (required && !includesRole(principal.role, required))
    throw new EyrieError(
      'rights',
      `${route.summary} requires the role ${required}, and yours is ${principal.role ?? 'none yet'}`,
    )
}

/** Returns whether `role` has all rights of `required`. */
export const includesRole = (role: Role | null, required: Role) =>
  role !== null && roles.indexOf(role) <= roles.indexOf(required)

function assertScopes(route: ManagementRoute, scopes: readonly string[]) {
  if (route.requiresSession)
    throw new EyrieError('rights', `${route.summary}: API tokens cannot do this, sign in instead`)
  const required = requiredScope(route)
  const [kind = ''] = required.split(':')
  if (!scopes.includes(required) && !scopes.includes(kind))
    throw new EyrieError(
      'rights',
      `${route.summary} requires the scope ${required}, which this API token lacks`,
    )
}

/** Returns the API token scope that a route requires: `read` or `write`, and the first segment of its path. */
export function requiredScope(route: ManagementRoute): string {
  return `${isReadOnly(route) ? 'read' : 'write'}:${route.path.split('/')[1]}`
}

/** Whether a route changes nothing. */
export const isReadOnly = ({ method, readOnly }: ManagementRoute) => method === 'get' || readOnly === true
