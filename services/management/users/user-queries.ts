import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Transaction } from '../db/database.ts'
import { role, user, userChannel, userCustomer, userSite, userUsecase } from '../db/schema/index.ts'
import { missingRecords } from '../errors/field-errors.ts'

const { password_hash: _, ...columns } = getTableColumns(user)

const assigned = (key: PgColumn, owner: PgColumn) =>
  sql<string[]>`array(select ${key}::text from ${key.table} where ${owner} = ${user.user_id} order by 1)`

const shown = {
  ...columns,
  role_key: sql<string>`coalesce(${role.role_key}, '')`,
  customer_ids: assigned(userCustomer.customer_id, userCustomer.user_id),
  site_ids: assigned(userSite.site_id, userSite.user_id),
  channel_ids: assigned(userChannel.channel_id, userChannel.user_id),
  usecase_ids: assigned(userUsecase.usecase_id, userUsecase.user_id),
}

/** Users as the API shows them, with what of their assignments the caller sees. */
export function describeUsers(tx: Transaction, which?: SQL) {
  return tx
    .select(shown)
    .from(user)
    .leftJoin(role, eq(role.role_id, user.role_id))
    .where(which)
    .orderBy(asc(user.created_at), asc(user.user_id))
}

/** Throws EyrieError `id` where there is no such user. */
export async function describeUser(tx: Transaction, user_id: string) {
  const [found] = await describeUsers(tx, eq(user.user_id, user_id))
  if (!found) throw missingRecords([{ field: 'user_id', record: 'user' }])
  return found
}

export type DescribedUser = Awaited<ReturnType<typeof describeUser>>
