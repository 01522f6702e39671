import { MIN_PASSWORD_LENGTH, managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, isNull, ne } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { session, user } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Principal } from '../../../rights/principal.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { userNameOf } from '../../../users/register-user.ts'
import {
  assertCanAssign,
  assertCanChange,
  assertCanManage,
  assertNotLastSuperadmin,
  assertUserChanged,
} from '../../../users/user-authority.ts'
import { describeUser, describeUsers } from '../../../users/user-queries.ts'
import { type Input, longOperation, type Operation, operation } from '../../api/operation.ts'
import { findReferences } from '../../api/references.ts'

const routes = managementRoutes.user
type Update = Input<typeof routes.update>

export interface UserOperationsOptions {
  passwords: Passwords
  now(): Date
}

export function userOperations({ passwords, now }: UserOperationsOptions): Operation[] {
  /** Ends a user's sessions, but for the one that asks. */
  async function endSessions(tx: Transaction, user_id: string, caller: Principal) {
    const others = caller.session_id ? ne(session.session_id, caller.session_id) : undefined
    await tx
      .update(session)
      .set({ revoked_at: now() })
      .where(and(eq(session.user_id, user_id), isNull(session.revoked_at), others))
  }

  return [
    operation(routes.id, async ({ input: { user_id } }, tx) => ({ value: await describeUser(tx, user_id) })),

    operation(routes.info, async ({ caller }, tx) => {
      const described = await describeUser(tx, caller.user_id)
      return { value: { ...described, user_config: described } }
    }),

    operation(routes.list, async (_, tx) => ({ value: await describeUsers(tx) })),

    longOperation(routes.update, async ({ input, caller }, database) => {
      assertCanChange(caller, input.user_id)
      const transact = <T>(work: (tx: Transaction) => Promise<T>) =>
        database.as(caller, routes.update.path, work)
      if (input.change_password) requireNewPassword(input)
      // Nobody makes us hash who may not do it anyway.
      await transact(tx => checkUpdate(tx, input, caller))
      const password_hash = input.change_password ? await passwords.hash(input.password!) : undefined
      const value = await transact(async tx => {
        const target = await checkUpdate(tx, input, caller)
        const {
          user_id,
          email,
          role_id,
          first_name = target.first_name,
          last_name = target.last_name,
        } = input
        const { organization_id = target.organization_id } = input
        const names = { first_name, last_name, user_name: userNameOf({ email, first_name, last_name }) }
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

    operation(routes.delete, async ({ input: { user_id }, caller }, tx) => {
      const target = await describeUser(tx, user_id)
      assertCanManage(caller, target)
      await assertNotLastSuperadmin(tx, target)
      assertUserChanged(
        await tx.delete(user).where(eq(user.user_id, user_id)).returning({ user_id: user.user_id }),
      )
      return undefined
    }),

    operation(routes.status, async ({ input: { user_id, is_active, is_verified }, caller }, tx) => {
      const target = await describeUser(tx, user_id)
      assertCanManage(caller, target)
      const mayAct = is_active && is_verified
      if (!mayAct) await assertNotLastSuperadmin(tx, target)
      assertUserChanged(
        await tx
          .update(user)
          .set({ is_active, is_verified })
          .where(eq(user.user_id, user_id))
          .returning({ user_id: user.user_id }),
      )
      if (!mayAct) await endSessions(tx, user_id, caller)
      return { value: await describeUser(tx, user_id) }
    }),
  ]
}

/** Throws what stands against an update; resolves to the user as they are. */
async function checkUpdate(tx: Transaction, input: Update, caller: Principal) {
  await findReferences(tx, routes.update, input)
  const target = await describeUser(tx, input.user_id)
  if (input.user_id !== caller.user_id) assertCanManage(caller, target)
  const { role_id, organization_id = target.organization_id } = input
  await assertCanAssign(tx, caller, target, { role_id, organization_id })
  return target
}

function requireNewPassword({ password = '', confirm_password }: Update) {
  if (password.length < MIN_PASSWORD_LENGTH)
    throw fieldError('password', `must have at least ${MIN_PASSWORD_LENGTH} characters`)
  if (password !== confirm_password) throw fieldError('confirm_password', 'is not the same as password')
}
