import type { ISql } from 'postgres'

export interface Table {
  name: string
  columns: string[]
}

/** Returns all tables except `migration`. Partitions are part of their table. */
export function listTables(sql: ISql): Promise<Table[]> {
  return sql<Table[]>`
    select relname as name, array(
      select attname from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
    ) as columns
    from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'migration'
    order by relname`
}

/** Sorts tables so that each one follows the tables that its foreign keys refer to. */
export async function sortByReferences<T extends { name: string }>(
  sql: ISql,
  tables: readonly T[],
): Promise<T[]> {
  const references = await sql<{ from: string; to: string }[]>`
    select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and conrelid <> confrelid`
  const unquote = (name: string) => name.replaceAll('"', '')
  const findTargets = (table: string) =>
    references.filter(({ from }) => unquote(from) === table).map(({ to }) => unquote(to))

  const sorted: T[] = []
  let remaining = tables.map(table => ({ table, targets: findTargets(table.name) }))
  while (remaining.length > 0) {
    const names = new Set(remaining.map(({ table }) => table.name))
    const isReady = ({ targets }: { targets: string[] }) => !targets.some(name => names.has(name))
    const ready = remaining.filter(isReady)
    if (ready.length === 0) throw new Error(`these tables refer to each other: ${[...names].join(', ')}`)
    sorted.push(...ready.map(({ table }) => table))
    remaining = remaining.filter(entry => !ready.includes(entry))
  }
  return sorted
}
