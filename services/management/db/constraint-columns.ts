import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import * as schema from './schema/index.ts'

type TableConfig = ReturnType<typeof getTableConfig>

/**
 * The columns of every key, by the name of its constraint. Under row-level security Postgres names the violated constraint
 * in its errors, but not the columns or the row.
 */
export const constraintColumns: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.values(schema)
    .filter(table => is(table, PgTable))
    .flatMap(table => listConstraints(getTableConfig(table))),
  // Expression and partial indexes have no column list in drizzle's configuration.
  ['user_email', ['email']],
  ['one_default_customer', ['organization_id']],
])

function listConstraints(table: TableConfig): [string, string[]][] {
  const names = (columns: readonly { name: string }[]) => columns.map(({ name }) => name)
  return [
    ...table.uniqueConstraints.map((key): [string, string[]] => [key.getName() ?? '', names(key.columns)]),
    ...table.columns
      .filter(column => column.isUnique)
      .map((column): [string, string[]] => [column.uniqueName ?? '', [column.name]]),
    ...table.foreignKeys.map((key): [string, string[]] => [key.getName(), names(key.reference().columns)]),
    ...table.primaryKeys.map((key): [string, string[]] => [key.getName(), names(key.columns)]),
  ]
}
