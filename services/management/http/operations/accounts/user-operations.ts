import { MIN_PASSWORD_LENGTH, roleRoutes, userRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { role, user } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { type Principal, ROLES } from '../../../rights/principal.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { toUserName } from '../../../users/register-user.ts'
import { revokeCredentials } from '../../../users/revoke-credentials.ts'
import {
  assertCanAssign,
  assertCanChange,
  assertCanManage,
  assertNotLastSuperadmin,
  assertUserChanged,
} from '../../../users/user-authority.ts'
import { describeUser, describeUsers } from '../../../users/user-queries.ts'
import {
  defineMultiStepOperation,
  defineOperation,
  type Input,
  type Operation,
} from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'
import { assertPasswordConfirmed } from '../../auth/confirm-caller.ts'

/** Role keys from the highest to the lowest role. */
const rankedRoles: readonly string[] = ROLES
type UserUpdate = Input<typeof userRoutes.update>

export interface UserOperationsOptions {
  passwords: Passwords
  now(): Date
}

/**
 * API operations on users and their roles. Each runs in transactions, `tx`, with the
 * rights of the caller.
 */
export function userOperations({ passwords, now }: UserOperationsOptions): Operation[] {
  return [
    defineOperation(userRoutes.get, async ({ input }, tx) => ({
      value: await describeUser(tx, input.user_id),
    })),

    defineOperation(userRoutes.getCurrent, async ({ caller }, tx) => {
      const currentUser = await describeUser(tx, caller.user_id)
      // `user_config` contains the rights and the console layout. The route's response schema
      // selects these fields.
      return { value: { ...currentUser, user_config: currentUser } }
    }),

    defineOperation(userRoutes.list, async (_, tx) => ({ value: await describeUsers(tx) })),

    defineMultiStepOperation(userRoutes.update, async ({ input, caller, context }, database) => {
      assertCanChange(caller, input.user_id)
      if (input.change_password) assertValidPassword(input)
      const { path } = userRoutes.update
      // Checked before the password is hashed, because hashing is expensive and an unauthorized
      // caller must not cause it.
      const target = await database.as(caller, path, tx => assertCanUpdate(tx, input, caller))
      if (input.change_password || input.email !== target.email) {
        const client = { caller, context }
        await assertPasswordConfirmed(database, client, input.current_password, { passwords, now })
      }
      // `assertValidPassword` has checked that there is a password.
      const newPasswordHash = input.change_password
        ? await passwords.hash(input.password!)
        : undefined
      const updatedUser = await database.as(caller, path, tx =>
        updateUser(tx, input, { caller, newPasswordHash, now: now() }),
      )
      return { value: updatedUser }
    }),

    defineOperation(userRoutes.delete, async ({ input, caller }, tx) => {
      const target = await describeUser(tx, input.user_id)
      assertCanManage(caller, target)
      await assertNotLastSuperadmin(tx, target)
      const deletedRows = await tx
        .delete(user)
        .where(eq(user.user_id, input.user_id))
        .returning({ user_id: user.user_id })
      assertUserChanged(deletedRows)
    }),

    defineOperation(userRoutes.setStatus, async ({ input, caller }, tx) => {
      const target = await describeUser(tx, input.user_id)
      assertCanManage(caller, target)
      const canSignIn = input.is_active && input.is_verified
      if (!canSignIn) await assertNotLastSuperadmin(tx, target)
      await writeUser(tx, input.user_id, {
        is_active: input.is_active,
        is_verified: input.is_verified,
      })
      if (!canSignIn) {
        await revokeCredentials(tx, {
          user_id: input.user_id,
          exceptSessionId: caller.session_id,
          now: now(),
        })
      }
      return { value: await describeUser(tx, input.user_id) }
    }),

    defineOperation(roleRoutes.list, async (_, tx) => {
      const rows = await tx.select().from(role)
      const getRank = (roleKey: string) => rankedRoles.indexOf(roleKey)
      return { value: rows.toSorted((a, b) => getRank(a.role_key) - getRank(b.role_key)) }
    }),
  ]
}

interface UserUpdateContext {
  caller: Principal
  /** Undefined: the password remains unchanged. */
  newPasswordHash: string | undefined
  now: Date
}

/**
 * Updates a user. A new password ends the user's other sessions and deletes the user's API tokens.
 */
async function updateUser(
  tx: Transaction,
  input: UserUpdate,
  { caller, newPasswordHash, now }: UserUpdateContext,
) {
  const target = await assertCanUpdate(tx, input, caller)
  const { user_id: userId, email, role_id: roleId, organization_id: organizationId } = input
  if (roleId !== target.role_id) await assertNotLastSuperadmin(tx, target)

  const firstName = input.first_name ?? target.first_name
  const lastName = input.last_name ?? target.last_name
  const userName = toUserName({ email, first_name: firstName, last_name: lastName })
  // Drizzle does not write undefined columns: an omitted organization or password remains
  // unchanged.
  await writeUser(tx, userId, {
    email,
    first_name: firstName,
    last_name: lastName,
    user_name: userName,
    role_id: roleId,
    organization_id: organizationId,
    password_hash: newPasswordHash,
  })

  if (newPasswordHash) {
    await revokeCredentials(tx, { user_id: userId, exceptSessionId: caller.session_id, now })
  }
  return describeUser(tx, userId)
}

/**
 * Throws `EyrieError` if the caller may not make this update. Otherwise returns the
 * user before the update.
 */
async function assertCanUpdate(tx: Transaction, input: UserUpdate, caller: Principal) {
  await assertReferencesExist(tx, userRoutes.update, input)
  const target = await describeUser(tx, input.user_id)
  if (input.user_id !== caller.user_id) assertCanManage(caller, target)
  const { role_id, organization_id = target.organization_id } = input
  await assertCanAssign(tx, caller, target, { role_id, organization_id })
  return target
}

/**
 * Updates columns of a user. Throws `EyrieError` (`rights`) if the caller can read the
 * user but not change it.
 */
async function writeUser(
  tx: Transaction,
  userId: string,
  columns: Partial<typeof user.$inferInsert>,
) {
  const updatedRows = await tx
    .update(user)
    .set(columns)
    .where(eq(user.user_id, userId))
    .returning({ user_id: user.user_id })
  assertUserChanged(updatedRows)
}

/**
 * Throws `EyrieError` (`syntax`) if the new password is too short or differs from its confirmation.
 */
function assertValidPassword({ password = '', confirm_password: confirmPassword }: UserUpdate) {
  if (password.length < MIN_PASSWORD_LENGTH) {
    throw fieldError('password', `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  }
  if (password !== confirmPassword) throw fieldError('confirm_password', 'does not match password')
}
