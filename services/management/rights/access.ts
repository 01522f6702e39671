import { EyrieError } from '@eyrie/contract'
import type { Access, ManagementRoute } from '@eyrie/contract/management/index'
import { type Principal, ROLES, type Role } from './principal.ts'

/**
 * The minimum role for each kind of access that a route may require. Null: users without a
 * role are admitted too.
 */
const MINIMUM_ROLES: Record<Exclude<Access, 'anyone'>, Role | null> = {
  'signed-in': null,
  view: 'viewer',
  manage: 'manager',
  administer: 'admin',
  own: 'superadmin',
}

/**
 * Checks whether a caller may use a route. Throws `EyrieError`: `auth` if the client has to sign in
 * first, `rights` if the role or the scopes of the API token do not include the route.
 */
export function authorize(route: ManagementRoute, principal: Principal | undefined): void {
  if (principal?.scopes) assertTokenMayUse(route, principal.scopes)
  if (route.access === 'anyone') return

  if (!principal) {
    throw new EyrieError('auth', 'sign in first: POST /api/v1/user/auth returns an access token')
  }

  const required = MINIMUM_ROLES[route.access]
  if (required) assertRole(`"${route.summary}" requires`, required, principal)
}

/** Returns whether `role` has all rights of `required`. */
export const includesRole = (role: Role | null, required: Role): boolean =>
  // Roles are sorted from highest to lowest.
  role !== null && ROLES.indexOf(role) <= ROLES.indexOf(required)

/**
 * Throws `EyrieError` (`rights`) unless the caller's role includes `required`. `subject` is the
 * beginning of the error message: what requires the role, such as `live views require`.
 */
export function assertRole(
  subject: string,
  required: Role,
  { role }: Pick<Principal, 'role'>,
): void {
  if (includesRole(role, required)) return
  const [highestRole] = ROLES
  const accepted = required === highestRole ? required : `${required} or a higher one`
  const actual = role
    ? `your role is ${role}: ask an administrator`
    : 'you have no role yet: ask an administrator to assign one'
  throw new EyrieError('rights', `${subject} the role ${accepted}, and ${actual}`)
}

/**
 * Throws `EyrieError` (`rights`) unless the scopes of an API token include `required`, such as
 * `write:site`. The scope `read` or `write` includes all resources. `subject` is as for
 * `assertRole`.
 */
export function assertScope(subject: string, required: string, scopes: readonly string[]): void {
  const [action = ''] = required.split(':')
  if (scopes.includes(required) || scopes.includes(action)) return
  const accepted = required === action ? required : `${required} or ${action}`
  const actual = scopes.length > 0 ? `only ${scopes.join(', ')}` : 'none'
  throw new EyrieError(
    'rights',
    `${subject} the scope ${accepted}, and this API token has ${actual}: create another token, or sign in`,
  )
}

/** Throws `EyrieError` (`rights`) if an API token with these scopes must not use the route. */
function assertTokenMayUse(route: ManagementRoute, scopes: readonly string[]): void {
  if (route.requiresSession) {
    throw new EyrieError(
      'rights',
      `"${route.summary}" is not possible with an API token: sign in, and send the access token of POST /api/v1/user/auth`,
    )
  }
  assertScope(`"${route.summary}" requires`, getRequiredScope(route), scopes)
}

/**
 * Returns the API token scope that a route requires, such as `write:site`: the action, and the
 * first segment of the path.
 */
export function getRequiredScope(route: ManagementRoute): string {
  const action = isReadOnly(route) ? 'read' : 'write'
  const [, resource] = route.path.split('/')
  return `${action}:${resource}`
}

/** Returns whether a route changes nothing. */
export const isReadOnly = ({ method, readOnly }: ManagementRoute): boolean =>
  method === 'get' || readOnly === true
