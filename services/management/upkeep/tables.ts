import type { ISql } from 'postgres'

export interface Table {
  name: string
  columns: string[]
}

/** The tables that hold rows of their own; partitions are part of theirs. */
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

/** Puts tables behind those that their rows refer to. */
export async function inOrder<T extends { name: string }>(sql: ISql, tables: readonly T[]): Promise<T[]> {
  const references = await sql<{ from: string; to: string }[]>`
    select conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace and conrelid <> confrelid`
  const unquoted = (name: string) => name.replaceAll('"', '')
  const waiting = new Map(
    tables.map(table => [
      table.name,
      new Set(references.filter(({ from }) => unquoted(from) === table.name).map(({ to }) => unquoted(to))),
    ]),
  )
  const ordered: T[] = []
  while (waiting.size > 0) {
    const next = [...waiting].filter(([, before]) => [...before].every(name => !waiting.has(name)))
    if (next.length === 0)
      throw new Error(`these tables refer to each other: ${[...waiting.keys()].join(', ')}`)
    for (const [name] of next) {
      waiting.delete(name)
      ordered.push(tables.find(table => table.name === name) as T)
    }
  }
  return ordered
}
