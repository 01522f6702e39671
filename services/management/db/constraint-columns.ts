import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import * as schema from './schema/index.ts'

type TableConfig = ReturnType<typeof getTableConfig>
/** A constraint's name and columns. */
type NamedColumns = [constraint: string, columns: string[]]

/** Unique indexes on an expression or with a condition, for which drizzle lists no columns. */
const UNIQUE_INDEXES: NamedColumns[] = [
  ['user_email', ['email']],
  ['one_default_customer', ['organization_id']],
]

/**
 * The columns of every unique, foreign and primary key by the name of its constraint. They are
 * needed to report which field violated a constraint: under row-level security, an error of
 * Postgres contains only the name of the constraint.
 */
export const CONSTRAINT_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map([
  ...listSchemaTables().flatMap(listConstraints),
  ...UNIQUE_INDEXES,
])

function listSchemaTables(): TableConfig[] {
  const tables = Object.values(schema).filter(table => is(table, PgTable))
  return tables.map(table => getTableConfig(table))
}

function listConstraints(table: TableConfig): NamedColumns[] {
  const uniqueColumns = table.columns.filter(column => column.isUnique)

  const constraints: NamedColumns[] = []
  for (const key of table.uniqueConstraints) {
    constraints.push([key.getName() ?? '', listNames(key.columns)])
  }
  for (const column of uniqueColumns) constraints.push([column.uniqueName ?? '', [column.name]])
  for (const key of table.foreignKeys) {
    constraints.push([key.getName(), listNames(key.reference().columns)])
  }
  for (const key of table.primaryKeys) constraints.push([key.getName(), listNames(key.columns)])
  return constraints
}

function listNames(columns: readonly { name: string }[]): string[] {
  return columns.map(({ name }) => name)
}
