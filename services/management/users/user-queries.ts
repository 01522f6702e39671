import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Transaction } from '../db/database.ts'
import {
  role,
  user,
  userChannel,
  userCustomer,
  userIdentity,
  userSite,
  userUsecase,
} from '../db/schema/index.ts'
import { missingRecords } from '../errors/field-errors.ts'

/** All columns of the user table except the password. */
const { password_hash: _, ...publicColumns } = getTableColumns(user)

/** Selects the ids in an assignment table that are assigned to the user of the outer query. */
export const selectAssigned = (key: PgColumn, owner: PgColumn) =>
  sql<string[]>`array(
    select ${key}::text
    from ${key.table}
    where ${owner} = ${user.user_id}
    order by 1
  )`

const userFields = {
  ...publicColumns,
  role_key: sql<string>`coalesce(${role.role_key}, '')`,
  is_connected: sql<boolean>`exists (
    select from ${userIdentity} where ${userIdentity.user_id} = ${user.user_id}
  )`,
  customer_ids: selectAssigned(userCustomer.customer_id, userCustomer.user_id),
  site_ids: selectAssigned(userSite.site_id, userSite.user_id),
  channel_ids: selectAssigned(userChannel.channel_id, userChannel.user_id),
  usecase_ids: selectAssigned(userUsecase.usecase_id, userUsecase.user_id),
}

/** Returns users in the form of the API, with the assignments that are visible to the caller. */
export function describeUsers(tx: Transaction, condition?: SQL) {
  return tx
    .select(userFields)
    .from(user)
    .leftJoin(role, eq(role.role_id, user.role_id))
    .where(condition)
    .orderBy(asc(user.created_at), asc(user.user_id))
}

/**
 * Returns a user in the form of the API. Throws `EyrieError` (`id`) if the user does not exist or
 * is invisible to the caller.
 */
export async function describeUser(tx: Transaction, userId: string) {
  const [described] = await describeUsers(tx, eq(user.user_id, userId))
  if (!described) throw missingRecords([{ field: 'user_id', record: 'user' }])
  return described
}

export type DescribedUser = Awaited<ReturnType<typeof describeUser>>
