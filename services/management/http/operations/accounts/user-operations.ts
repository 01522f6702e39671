import { MIN_PASSWORD_LENGTH, roleRoutes, userRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { role, user } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { type Principal, ROLES } from '../../../rights/principal.ts'
import { lockUser } from '../../../users/admit-user.ts'
import { deleteIdentity } from '../../../users/oidc/identities.ts'
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
import { type DescribedUser, describeUser, describeUsers } from '../../../users/user-queries.ts'
import {
  defineMultiStepOperation,
  defineOperation,
  type Input,
  type Operation,
} from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'
import { assertPasswordConfirmed } from '../../auth/confirm-caller.ts'

type UserUpdate = Input<typeof userRoutes.update>

export interface UserOperationsOptions {
  passwords: Passwords
  now(): Date
}

/**
 * API operations on users and their roles. Each runs in one or more transactions, `tx`, with the
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

    defineMultiStepOperation(userRoutes.update, async (call, database) => {
      const { input, caller } = call
      const { path } = userRoutes.update
      assertCanChange(caller, input.user_id)
      const newPassword = parseNewPassword(input)
      // The rights are checked first, because hashing a password is expensive and an unauthorized
      // caller must not cause it. `updateUser` checks them again.
      const target = await database.as(caller, path, tx => findChangeableUser(tx, input, caller))
      if (newPassword !== undefined || input.email !== target.email) {
        const { current_password: currentPassword } = input
        await assertPasswordConfirmed(database, call, currentPassword, { passwords, now })
      }

      const newPasswordHash =
        newPassword === undefined ? undefined : await passwords.hash(newPassword)
      const updated = await database.as(caller, path, tx =>
        updateUser(tx, input, { caller, newPasswordHash, now: now() }),
      )
      return { value: updated }
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
      const { user_id, is_active, is_verified } = input
      const target = await describeUser(tx, user_id)
      assertCanManage(caller, target)
      const canSignIn = is_active && is_verified
      if (!canSignIn) await assertNotLastSuperadmin(tx, target)
      await writeColumns(tx, user_id, { is_active, is_verified })
      if (!canSignIn) {
        await revokeCredentials(tx, { user_id, exceptSessionId: caller.session_id, now: now() })
      }
      return { value: await describeUser(tx, user_id) }
    }),

    defineOperation(userRoutes.deleteIdentity, async ({ input, caller }, tx) => {
      const { user_id } = input
      assertCanManage(caller, await describeUser(tx, user_id))
      // Postgres locks only rows that the caller may change.
      const lockedUser = await lockUser(tx, user_id)
      assertUserChanged(lockedUser ? [lockedUser] : [])
      await deleteIdentity(tx, user_id)
      await revokeCredentials(tx, { user_id, exceptSessionId: caller.session_id, now: now() })
    }),

    defineOperation(roleRoutes.list, async (_, tx) => {
      const rows = await tx.select().from(role)
      return { value: rows.toSorted((a, b) => toRank(a.role_key) - toRank(b.role_key)) }
    }),
  ]
}

/** Role keys from the highest to the lowest role. */
const RANKED_ROLES: readonly string[] = ROLES
const toRank = (roleKey: string) => RANKED_ROLES.indexOf(roleKey)

/**
 * Returns the new password, or undefined if the password remains unchanged. Throws `EyrieError`
 * (`syntax`) if it is too short or differs from its confirmation.
 */
function parseNewPassword({
  change_password: isChanged,
  password = '',
  confirm_password: confirmation,
}: UserUpdate): string | undefined {
  if (!isChanged) return undefined
  if (password.length < MIN_PASSWORD_LENGTH) {
    throw fieldError('password', `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  }
  if (password !== confirmation) throw fieldError('confirm_password', 'does not match password')
  return password
}

/**
 * Returns a user before an update. Throws `EyrieError` if the user or a record in the update does
 * not exist, or if the caller may not make the update.
 */
async function findChangeableUser(
  tx: Transaction,
  input: UserUpdate,
  caller: Principal,
): Promise<DescribedUser> {
  await assertReferencesExist(tx, userRoutes.update, input)
  const target = await describeUser(tx, input.user_id)
  if (input.user_id !== caller.user_id) assertCanManage(caller, target)
  const { role_id, organization_id = target.organization_id } = input
  await assertCanAssign(tx, caller, target, { role_id, organization_id })
  return target
}

interface UserUpdateContext {
  caller: Principal
  /** Undefined: the password remains unchanged. */
  newPasswordHash: string | undefined
  now: Date
}

/**
 * Updates a user, and returns the user after the update. A new password ends the user's other
 * sessions and deletes the user's API tokens.
 */
async function updateUser(
  tx: Transaction,
  input: UserUpdate,
  { caller, newPasswordHash, now }: UserUpdateContext,
): Promise<DescribedUser> {
  const target = await findChangeableUser(tx, input, caller)
  const { user_id, email, role_id, organization_id } = input
  if (role_id !== target.role_id) await assertNotLastSuperadmin(tx, target)

  // An omitted name remains unchanged.
  const { first_name = target.first_name, last_name = target.last_name } = input
  await writeColumns(tx, user_id, {
    email,
    first_name,
    last_name,
    user_name: toUserName({ email, first_name, last_name }),
    role_id,
    // Drizzle does not write undefined columns: if omitted, these two remain unchanged.
    organization_id,
    password_hash: newPasswordHash,
  })

  if (newPasswordHash !== undefined) {
    await revokeCredentials(tx, { user_id, exceptSessionId: caller.session_id, now })
  }
  return describeUser(tx, user_id)
}

/**
 * Updates columns of a user. Throws `EyrieError` (`rights`) if the caller can read the
 * user but not change it.
 */
async function writeColumns(
  tx: Transaction,
  userId: string,
  columns: Partial<typeof user.$inferInsert>,
): Promise<void> {
  const updatedRows = await tx
    .update(user)
    .set(columns)
    .where(eq(user.user_id, userId))
    .returning({ user_id: user.user_id })
  assertUserChanged(updatedRows)
}
