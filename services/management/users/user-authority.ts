import { EyrieError } from '@eyrie/contract'
import { and, eq, ne, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { role, user } from '../db/schema/index.ts'
import { reaches } from '../rights/access.ts'
import { type Principal, type Role, roles } from '../rights/principal.ts'

/** What of a user decides over others: role, and whose administrator. */
export interface Standing {
  role_id: string | null
  organization_id: string | null
}

interface Target extends Standing {
  user_id: string
  /** Empty: none. */
  role_key: string
}

/** Throws EyrieError `rights` unless the caller may do something to a user: an administrator, to nobody above. */
export function assertCanManage(caller: Principal, { role_key }: Pick<Target, 'role_key'>): void {
  requireAdministrator(caller)
  if (isRole(role_key) && !reaches(caller.role, role_key))
    throw new EyrieError(
      'rights',
      `this user is ${role_key}, and you are ${caller.role}: you may not touch those above you`,
    )
}

/**
 * Throws EyrieError `rights` unless the caller changes themselves, or is an administrator: before it is looked whether there
 * is such a user, so that the answer tells nothing of it.
 */
export function assertCanChange(caller: Principal, user_id: string): void {
  if (user_id !== caller.user_id) requireAdministrator(caller)
}

function requireAdministrator(caller: Principal) {
  if (!reaches(caller.role, 'admin'))
    throw new EyrieError('rights', 'administrators alone change other users, roles and what is assigned')
}

const isRole = (text: string): text is Role => roles.some(known => known === text)

/** Throws EyrieError `rights` unless the caller may make `wanted` of a user's standing; nothing is asked where it stays. */
export async function assertCanAssign(
  tx: Transaction,
  caller: Principal,
  target: Target,
  wanted: Standing,
): Promise<void> {
  const { role_id, organization_id } = wanted
  if (role_id === target.role_id && organization_id === target.organization_id) return
  assertCanManage(caller, target)
  if (role_id !== target.role_id && role_id !== null) {
    const [given] = await tx.select().from(role).where(eq(role.role_id, role_id))
    if (!reaches(caller.role, given!.role_key as Role))
      throw new EyrieError(
        'rights',
        `role_id: nobody gives a role above their own, and yours is ${caller.role}`,
      )
  }
  const isOthers = organization_id === null || !caller.organizations.includes(organization_id)
  if (organization_id !== target.organization_id && caller.role !== 'superadmin' && isOthers)
    throw new EyrieError('rights', 'organization_id: it has to be an organization that you administer')
}

/**
 * To be called before a superadmin is deleted or made anything else: one at least has to remain who may act. Whoever
 * asks at the same moment waits.
 */
export async function assertNotLastSuperadmin(tx: Transaction, { user_id, role_key }: Target): Promise<void> {
  if (role_key !== 'superadmin') return
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('eyrie superadmin'))`)
  const others = await tx
    .select({ user_id: user.user_id })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(and(eq(role.role_key, 'superadmin'), user.is_active, user.is_verified, ne(user.user_id, user_id)))
  if (others.length === 0)
    throw new EyrieError('conflict', 'this is the last superadmin who may act: make another one first')
}

/** Throws EyrieError `rights` where something was to be taken from a user and is still assigned. */
export function assertUnassigned(left: readonly unknown[]): void {
  if (left.length > 0) throw beyondReach()
}

/** A change that touched no row: the caller sees the user, and may not change it. */
export function assertUserChanged(rows: readonly unknown[]): void {
  if (rows.length === 0) throw beyondReach()
}

const beyondReach = () =>
  new EyrieError(
    'rights',
    'something is assigned to this user outside of what you administer: ask its administrator',
  )
