import { EyrieError } from '@eyrie/contract'
import { and, eq, ne, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { role, user } from '../db/schema/index.ts'
import { includesRole } from '../rights/access.ts'
import { type Principal, type Role, roles } from '../rights/principal.ts'

/** The properties of a user that grant authority over others. */
export interface UserAuthority {
  role_id: string | null
  organization_id: string | null
}

interface TargetUser extends UserAuthority {
  user_id: string
  /** Empty for a user without a role. */
  role_key: string
}

/** Throws `EyrieError` (`rights`) unless the caller is an administrator and the user's role is not above the caller's. */
export function assertCanManage(caller: Principal, { role_key }: Pick<TargetUser, 'role_key'>): void {
  assertAdministrator(caller)
  if (isRole(role_key) && !includesRole(caller.role, role_key))
    throw new EyrieError(
      'rights',
      `this user is ${role_key} and you are ${caller.role}: you cannot change users with a higher role`,
    )
}

/**
 * Throws `EyrieError` (`rights`) unless the caller is this user or an administrator. It does not check whether the user
 * exists, so that the answer does not reveal it.
 */
export function assertCanChange(caller: Principal, user_id: string): void {
  if (user_id !== caller.user_id) assertAdministrator(caller)
}

function assertAdministrator(caller: Principal) {
  if (!includesRole(caller.role, 'admin'))
    throw new EyrieError('rights', 'only administrators may change other users, roles and assignments')
}

const isRole = (text: string): text is Role => roles.some(role => role === text)

/**
 * Throws `EyrieError` (`rights`) unless the caller may assign this role and organization to the user. Values that do not
 * change are always allowed.
 */
export async function assertCanAssign(
  tx: Transaction,
  caller: Principal,
  target: TargetUser,
  { role_id, organization_id }: UserAuthority,
): Promise<void> {
  const changesRole = role_id !== target.role_id
  const changesOrganization = organization_id !== target.organization_id
  if (!changesRole && !changesOrganization) return
  assertCanManage(caller, target)

  if (changesRole && role_id !== null) {
    const [assigned] = await tx.select().from(role).where(eq(role.role_id, role_id))
    if (!includesRole(caller.role, assigned!.role_key as Role))
      throw new EyrieError(
        'rights',
        `role_id: you cannot assign a role above your own, which is ${caller.role}`,
      )
  }

  if (!changesOrganization || caller.role === 'superadmin') return
  if (organization_id === null || !caller.organizations.includes(organization_id))
    throw new EyrieError('rights', 'organization_id: choose an organization that you administer')
}

/**
 * Throws `EyrieError` (`conflict`) if the user is the last superadmin who can sign in. Call it before a superadmin is
 * deleted, deactivated or loses the role. Holds a lock until the transaction ends, so that concurrent calls wait.
 */
export async function assertNotLastSuperadmin(
  tx: Transaction,
  { user_id, role_key }: TargetUser,
): Promise<void> {
  if (role_key !== 'superadmin') return
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie superadmin'))`)
  const others = await tx
    .select({ user_id: user.user_id })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(and(eq(role.role_key, 'superadmin'), user.is_active, user.is_verified, ne(user.user_id, user_id)))
  if (others.length === 0)
    throw new EyrieError('conflict', 'this is the last active superadmin: appoint another one first')
}

/** Throws `EyrieError` (`rights`) if any assignments that should have been removed are left. */
export function assertUnassigned(remaining: readonly unknown[]): void {
  if (remaining.length > 0) throw outsideAuthority()
}

/** Throws `EyrieError` (`rights`) if a change affected no row: the caller can read the user but not change it. */
export function assertUserChanged(rows: readonly unknown[]): void {
  if (rows.length === 0) throw outsideAuthority()
}

const outsideAuthority = () =>
  new EyrieError(
    'rights',
    'this user has assignments that you do not administer: ask an administrator of theirs',
  )
