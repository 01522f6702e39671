import { MIN_PASSWORD_LENGTH, managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, isNull, ne } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { role, session, user } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { type Principal, roles } from '../../../rights/principal.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { toUserName } from '../../../users/register-user.ts'
import {
  assertCanAssign,
  assertCanChange,
  assertCanManage,
  assertNotLastSuperadmin,
  assertUserChanged,
} from '../../../users/user-authority.ts'
import { describeUser, describeUsers } from '../../../users/user-queries.ts'
import { defineMultiStepOperation, defineOperation, type Input, type Operation } from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'

const routes = managementRoutes.user
const roleOrder: readonly string[] = roles
type Update = Input<typeof routes.update>

export interface UserOperationsOptions {
  passwords: Passwords
  now(): Date
}

/** Users and their roles. */
export function userOperations({ passwords, now }: UserOperationsOptions): Operation[] {
  /** Ends the user's sessions, except the caller's current one. */
  async function endSessions(tx: Transaction, user_id: string, caller: Principal) {
    const others = caller.session_id ? ne(session.session_id, caller.session_id) : undefined
    await tx
      .update(session)
      .set({ revoked_at: now() })
      .where(and(eq(session.user_id, user_id), isNull(session.revoked_at), others))
  }

  return [
    defineOperation(routes.id, async ({ input: { user_id } }, tx) => ({
      value: await describeUser(tx, user_id),
    })),

    defineOperation(routes.info, async ({ caller }, tx) => {
      const described = await describeUser(tx, caller.user_id)
      return { value: { ...described, user_config: described } }
    }),

    defineOperation(routes.list, async (_, tx) => ({ value: await describeUsers(tx) })),

    defineMultiStepOperation(routes.update, async ({ input, caller }, database) => {
      assertCanChange(caller, input.user_id)
      const inTransaction = <T>(work: (tx: Transaction) => Promise<T>) =>
        database.as(caller, routes.update.path, work)
      if (input.change_password) assertValidPassword(input)
      // Check before hashing, so that an unauthorized caller cannot cause that work.
      await inTransaction(tx => assertCanUpdate(tx, input, caller))
      const password_hash = input.change_password ? await passwords.hash(input.password!) : undefined
      const value = await inTransaction(async tx => {
        const target = await assertCanUpdate(tx, input, caller)
        const { user_id, email, role_id, organization_id = target.organization_id } = input
        const { first_name = target.first_name, last_name = target.last_name } = input
        const names = { first_name, last_name, user_name: toUserName({ email, first_name, last_name }) }
        if (role_id !== target.role_id) await assertNotLastSuperadmin(tx, target)
        assertUserChanged(
          await tx
            .update(user)
            .set({ email, ...names, role_id, organization_id, ...(password_hash && { password_hash }) })
            .where(eq(user.user_id, user_id))
            .returning({ user_id: user.user_id }),
        )
        if (password_hash) await endSessions(tx, user_id, caller)
        return describeUser(tx, user_id)
      })
      return { value }
    }),

    defineOperation(routes.delete, async ({ input: { user_id }, caller }, tx) => {
      const target = await describeUser(tx, user_id)
      assertCanManage(caller, target)
      await assertNotLastSuperadmin(tx, target)
      assertUserChanged(
        await tx.delete(user).where(eq(user.user_id, user_id)).returning({ user_id: user.user_id }),
      )
      return undefined
    }),

    defineOperation(routes.status, async ({ input: { user_id, is_active, is_verified }, caller }, tx) => {
      const target = await describeUser(tx, user_id)
      assertCanManage(caller, target)
      const canSignIn = is_active && is_verified
      if (!canSignIn) await assertNotLastSuperadmin(tx, target)
      assertUserChanged(
        await tx
          .update(user)
          .set({ is_active, is_verified })
          .where(eq(user.user_id, user_id))
          .returning({ user_id: user.user_id }),
      )
      if (!canSignIn) await endSessions(tx, user_id, caller)
      return { value: await describeUser(tx, user_id) }
    }),

    defineOperation(managementRoutes.role.list, async (_, tx) => {
      const rows = await tx.select().from(role)
      const byOrder = rows.toSorted((a, b) => roleOrder.indexOf(a.role_key) - roleOrder.indexOf(b.role_key))
      return { value: byOrder }
    }),
  ]
}

/** Throws if the caller may not make this update. Resolves to the user before the update. */
async function assertCanUpdate(tx: Transaction, input: Update, caller: Principal) {
  await assertReferencesExist(tx, routes.update, input)
  const target = await describeUser(tx, input.user_id)
  if (input.user_id !== caller.user_id) assertCanManage(caller, target)
  const { role_id, organization_id = target.organization_id } = input
  await assertCanAssign(tx, caller, target, { role_id, organization_id })
  return target
}

function assertValidPassword({ password = '', confirm_password }: Update) {
  if (password.length < MIN_PASSWORD_LENGTH)
    throw fieldError('password', `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  if (password !== confirm_password) throw fieldError('confirm_password', 'does not match password')
}
