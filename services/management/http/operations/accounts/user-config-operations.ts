import { isDeepStrictEqual } from 'node:util'
import { managementRoutes, type UserConfig } from '@eyrie/contract/management/index'
import { and, eq, notInArray } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Transaction } from '../../../db/database.ts'
import { user, userChannel, userCustomer, userSite, userUsecase } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import {
  assertCanAssign,
  assertCanChange,
  assertCanManage,
  assertNotLastSuperadmin,
  assertUserChanged,
} from '../../../users/user-authority.ts'
import { type DescribedUser, describeUser } from '../../../users/user-queries.ts'
import { type Input, type Operation, operation } from '../../api/operation.ts'

const routes = managementRoutes.user
type Config = Input<typeof routes.updateConfig>['user_config']

/** What can be assigned, and where that is written. */
const assignments = [
  { field: 'customer_ids', key: 'customer_id', table: userCustomer, id: userCustomer.customer_id },
  { field: 'site_ids', key: 'site_id', table: userSite, id: userSite.site_id },
  { field: 'channel_ids', key: 'channel_id', table: userChannel, id: userChannel.channel_id },
  { field: 'usecase_ids', key: 'usecase_id', table: userUsecase, id: userUsecase.usecase_id },
] as const

export const userConfigOperations: Operation[] = [
  operation(routes.readConfig, async ({ input: { user_id } }, tx) => ({
    value: await describeUser(tx, user_id),
  })),

  operation(
    routes.updateConfig,
    async ({ input: { user_id, user_config: wanted }, caller }, tx) => {
      const target = await describeUser(tx, user_id)
      if (wanted.user_id !== undefined && wanted.user_id !== user_id)
        throw fieldError('user_config.user_id', 'has to be the same as user_id')
      // How the console looks is everybody's own affair; what may be seen in it is not.
      if (user_id !== caller.user_id || changesRights(wanted, target)) assertCanManage(caller, target)
      const { role_id = target.role_id, organization_id = target.organization_id } = wanted
      const { ui_config = target.ui_config } = wanted
      await assertCanAssign(tx, caller, target, { role_id, organization_id })
      if (role_id !== target.role_id) await assertNotLastSuperadmin(tx, target)
      assertUserChanged(
        await tx
          .update(user)
          .set({ role_id, organization_id, ui_config })
          .where(eq(user.user_id, user_id))
          .returning({ user_id: user.user_id }),
      )
      await assign(tx, target, wanted)
      return undefined
    },
    ({ input, caller }) => assertCanChange(caller, input.user_id),
  ),
]

const rightsFields = ['role_id', 'organization_id', ...assignments.map(({ field }) => field)] as const

const changesRights = (wanted: Config, target: DescribedUser) =>
  rightsFields.some(
    field => wanted[field] !== undefined && !isDeepStrictEqual(sorted(wanted[field]), sorted(target[field])),
  )

const sorted = (value: UserConfig[(typeof rightsFields)[number]] | undefined) =>
  Array.isArray(value) ? value.map(id => id.toLowerCase()).toSorted() : value

/**
 * First what is new, then what goes: who administers a user by what is assigned to them still does so in between. What
 * the caller does not see stays.
 */
async function assign(tx: Transaction, target: DescribedUser, wanted: Config): Promise<void> {
  const { user_id } = target
  for (const { field, key, table } of assignments) {
    const fresh = (wanted[field] ?? []).filter(id => !target[field].includes(id.toLowerCase()))
    const rows = fresh.map(id => ({ user_id, [key]: id }))
    if (rows.length > 0)
      await tx
        .insert(table as PgTable)
        .values(rows)
        .onConflictDoNothing()
  }
  for (const { field, table, id } of assignments) {
    const kept = wanted[field]
    if (kept) await tx.delete(table).where(and(eq(table.user_id as PgColumn, user_id), notInArray(id, kept)))
  }
}
