import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import * as schema from './schema/index.ts'

type TableConfig = ReturnType<typeof getTableConfig>

/**
 * The columns of every key, by the name of its constraint. Where row-level security is in force, Postgres tells in its
 * errors which constraint does not hold, and of the rows nothing.
 */
export const keyColumns: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.values(schema)
    .filter(table => is(table, PgTable))
    .flatMap(table => keysOf(getTableConfig(table))),
  // Unique indexes on expressions or on some of the rows, which tell no columns.
  ['user_email', ['email']],
  ['one_default_customer', ['organization_id']],
])

function keysOf(table: TableConfig): [string, string[]][] {
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
