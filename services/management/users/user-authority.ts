import { EyrieError } from '@eyrie/contract'
import { and, eq, ne, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { role, user } from '../db/schema/index.ts'
import { assertRole } from '../rights/access.ts'
import { type Principal, ROLES, type Role } from '../rights/principal.ts'

// Checks whether a caller may change a user. Row-level security decides to which users a caller has
// access. The checks here add that callers cannot manage users with a higher role than their own,
// and cannot assign more rights than they have.

/** The fields of a user that determine the user's authority over other users. */
export interface UserAuthority {
  role_id: string | null
  organization_id: string | null
}

/** The user to change, before the change. */
interface TargetUser extends UserAuthority {
  user_id: string
  /** Empty for a user without a role. */
  role_key: string
}

/**
 * Throws `EyrieError` (`rights`) unless the caller is an administrator and the user's role is
 * not above the caller's.
 */
export function assertCanManage(
  caller: Principal,
  { role_key: roleKey }: Pick<TargetUser, 'role_key'>,
): void {
  assertAdministrator(caller)
  const targetRole = parseRole(roleKey)
  if (targetRole) {
    assertRole(`changing a user with the role ${targetRole} requires`, targetRole, caller)
  }
}

/**
 * Throws `EyrieError` (`rights`) unless the caller is this user or an administrator. Does not check
 * whether the user exists, so that the answer does not reveal it.
 */
export function assertCanChange(caller: Principal, userId: string): void {
  if (userId !== caller.user_id) assertAdministrator(caller)
}

const assertAdministrator = (caller: Principal) =>
  assertRole('changing other users, roles and assignments requires', 'admin', caller)

function parseRole(roleKey: string): Role | undefined {
  return ROLES.find(role => role === roleKey)
}

/**
 * Throws `EyrieError` (`rights`) unless the caller may assign this role and organization to the
 * user. Fields that remain unchanged are always allowed.
 */
export async function assertCanAssign(
  tx: Transaction,
  caller: Principal,
  target: TargetUser,
  { role_id: roleId, organization_id: organizationId }: UserAuthority,
): Promise<void> {
  const changesRole = roleId !== target.role_id
  const changesOrganization = organizationId !== target.organization_id
  if (!changesRole && !changesOrganization) return
  assertCanManage(caller, target)
  if (changesRole && roleId !== null) await assertCanAssignRole(tx, caller, roleId)
  if (changesOrganization) assertCanAssignOrganization(caller, organizationId)
}

async function assertCanAssignRole(
  tx: Transaction,
  caller: Principal,
  roleId: string,
): Promise<void> {
  const assigned = firstRow(await tx.select().from(role).where(eq(role.role_id, roleId)))
  // A constraint of the database admits only these roles.
  const assignedRole = assigned.role_key as Role
  assertRole(`role_id: assigning the role ${assignedRole} requires`, assignedRole, caller)
}

function assertCanAssignOrganization(caller: Principal, organizationId: string | null): void {
  if (caller.role === 'superadmin') return
  if (organizationId === null || !caller.organizations.includes(organizationId)) {
    throw new EyrieError(
      'rights',
      'organization_id: choose an organization that you administer, or ask a superadmin to assign another one',
    )
  }
}

/**
 * Throws `EyrieError` (`conflict`) if the user is the last superadmin who can sign in. Call this
 * before a superadmin is deleted, deactivated or assigned another role. Holds a lock until the
 * transaction ends, so that two superadmins cannot remove each other at the same time.
 */
export async function assertNotLastSuperadmin(
  tx: Transaction,
  { user_id: userId, role_key: roleKey }: TargetUser,
): Promise<void> {
  if (roleKey !== 'superadmin') return
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie superadmin'))`)
  const others = await tx
    .select({ user_id: user.user_id })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(
      and(
        eq(role.role_key, 'superadmin'),
        user.is_active,
        user.is_verified,
        ne(user.user_id, userId),
      ),
    )
  if (others.length === 0) {
    throw new EyrieError(
      'conflict',
      'this is the last active superadmin: appoint another one first',
    )
  }
}

/**
 * Throws `EyrieError` (`rights`) if assignments of a user remain after their deletion, because the
 * caller may not delete them.
 */
export function assertUnassigned(remainingAssignments: readonly unknown[]): void {
  if (remainingAssignments.length > 0) throw outsideAuthority()
}

/**
 * Throws `EyrieError` (`rights`) if an update or deletion of a user affected no row: the caller may
 * read the user, but not change it.
 */
export function assertUserChanged(affectedRows: readonly unknown[]): void {
  if (affectedRows.length === 0) throw outsideAuthority()
}

const outsideAuthority = () =>
  new EyrieError(
    'rights',
    'this user has assignments in organizations that you do not administer: ask an administrator of those organizations',
  )
