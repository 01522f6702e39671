import { isDeepStrictEqual } from 'node:util'
import { type UserConfig, userRoutes } from '@eyrie/contract/management/index'
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
import { defineOperation, type Input, type Operation } from '../../api/operation.ts'

type Config = Input<typeof userRoutes.updateConfig>['user_config']

/**
 * The kinds of records that can be assigned to a user. `field` is the field of the API, and `table`
 * contains the assignments, with the id of the assigned record in the column `idColumn`.
 */
const ASSIGNMENTS = [
  { field: 'customer_ids', table: userCustomer, idColumn: userCustomer.customer_id },
  { field: 'site_ids', table: userSite, idColumn: userSite.site_id },
  { field: 'channel_ids', table: userChannel, idColumn: userChannel.channel_id },
  { field: 'usecase_ids', table: userUsecase, idColumn: userUsecase.usecase_id },
] as const

/** The fields that grant rights. */
const RIGHTS_FIELDS = [
  'role_id',
  'organization_id',
  ...ASSIGNMENTS.map(({ field }) => field),
] as const
type RightsField = (typeof RIGHTS_FIELDS)[number]

/**
 * API operations on the configuration of a user: role, assigned records, and the
 * layout of the console.
 */
export const userConfigOperations: Operation[] = [
  defineOperation(userRoutes.getConfig, async ({ input }, tx) => ({
    value: await describeUser(tx, input.user_id),
  })),

  defineOperation(
    userRoutes.updateConfig,
    async ({ input: { user_id, user_config: config }, caller }, tx) => {
      const target = await describeUser(tx, user_id)
      if (config.user_id !== undefined && config.user_id !== user_id) {
        throw fieldError('user_config.user_id', 'must be the same as user_id')
      }

      // Users may change the layout of their own console, but not their own rights.
      const isOwnLayout = user_id === caller.user_id && !changesRights(config, target)
      if (!isOwnLayout) assertCanManage(caller, target)

      // Omitted fields remain unchanged.
      const {
        role_id = target.role_id,
        organization_id = target.organization_id,
        ui_config = target.ui_config,
      } = config
      await assertCanAssign(tx, caller, target, { role_id, organization_id })
      if (role_id !== target.role_id) await assertNotLastSuperadmin(tx, target)

      const updatedRows = await tx
        .update(user)
        .set({ role_id, organization_id, ui_config })
        .where(eq(user.user_id, user_id))
        .returning({ user_id: user.user_id })
      assertUserChanged(updatedRows)
      await updateAssignments(tx, target, config)
    },
    ({ input, caller }) => assertCanChange(caller, input.user_id),
  ),
]

/**
 * Returns whether the new configuration differs from the current one in any field that grants
 * rights.
 */
function changesRights(config: Config, target: DescribedUser): boolean {
  return RIGHTS_FIELDS.some(field => {
    const configured = config[field]
    if (configured === undefined) return false
    return !isDeepStrictEqual(normalizeIds(configured), normalizeIds(target[field]))
  })
}

/**
 * Makes lists of ids comparable, because neither the order of the ids nor their case has a meaning.
 */
const normalizeIds = (ids: UserConfig[RightsField]) =>
  Array.isArray(ids) ? ids.map(id => id.toLowerCase()).toSorted() : ids

/**
 * Replaces the assignments of a user, except assignments that the caller cannot see. All new ones
 * are inserted before old ones are deleted, because the caller's right to manage the user may
 * depend on an assignment.
 */
async function updateAssignments(
  tx: Transaction,
  target: DescribedUser,
  config: Config,
): Promise<void> {
  const { user_id } = target
  for (const { field, table, idColumn } of ASSIGNMENTS) {
    const configuredIds = config[field] ?? []
    // The database returns ids in lower case.
    const addedIds = configuredIds.filter(id => !target[field].includes(id.toLowerCase()))
    if (addedIds.length === 0) continue
    const rows = addedIds.map(id => ({ user_id, [idColumn.name]: id }))
    // The cast is needed, because TypeScript cannot infer which of the tables has this column.
    await tx
      .insert(table as PgTable)
      .values(rows)
      .onConflictDoNothing()
  }

  for (const { field, table, idColumn } of ASSIGNMENTS) {
    const configuredIds = config[field]
    if (!configuredIds) continue
    // All tables have the column `user_id`.
    const isOfUser = eq(table.user_id as PgColumn, user_id)
    await tx.delete(table).where(and(isOfUser, notInArray(idColumn, configuredIds)))
  }
}
