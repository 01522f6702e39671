import type { ISql } from 'postgres'

/** A table of the database, as backups contain it. */
export interface Table {
  name: string
  /** Names of the columns, except generated columns. */
  columns: string[]
}

/**
 * Returns all tables except `migration`, and except the messages of the live feed, which
 * only connected clients need. Omits partitions, because a query of a partitioned table
 * reads their rows too.
 */
export function listTables(sql: ISql): Promise<Table[]> {
  return sql<Table[]>`
    select
      relname as name,
      array(
        select attname
        from pg_attribute
        where attrelid = pg_class.oid
          and attnum > 0
          and not attisdropped
          and attgenerated = ''
        order by attnum
      ) as columns
    from pg_class
    where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p')
      and not relispartition
      and relname not in ('migration', 'live_message')
    order by relname`
}

/** Sorts tables so that each table follows the tables that its foreign keys refer to. */
export async function sortByReferences<T extends { name: string }>(
  sql: ISql,
  tables: readonly T[],
): Promise<T[]> {
  const references = await listReferences(sql)
  const sorted: T[] = []
  let remaining = [...tables]

  // Each round appends the tables that refer to no remaining table.
  while (remaining.length > 0) {
    const remainingNames = new Set(remaining.map(({ name }) => name))
    const isBlocked = ({ name }: T) =>
      references.some(({ from, to }) => from === name && remainingNames.has(to))

    const unblocked = remaining.filter(table => !isBlocked(table))
    if (unblocked.length === 0) {
      throw new Error(`these tables refer to each other: ${[...remainingNames].join(', ')}`)
    }

    sorted.push(...unblocked)
    remaining = remaining.filter(isBlocked)
  }
  return sorted
}

/**
 * Returns the pairs of tables of which `from` has a foreign key to `to`. Omits references
 * of a table to itself.
 */
function listReferences(sql: ISql): Promise<{ from: string; to: string }[]> {
  return sql<{ from: string; to: string }[]>`
    select source.relname as from, target.relname as to
    from pg_constraint
    join pg_class source on source.oid = conrelid
    join pg_class target on target.oid = confrelid
    where contype = 'f'
      and connamespace = 'public'::regnamespace
      and conrelid <> confrelid`
}
