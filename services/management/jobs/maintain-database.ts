import { formatBytes } from '@eyrie/contract/format-bytes'
import { sql } from 'drizzle-orm'
import { quoteIdentifier } from '../db/server-requirements.ts'
import type { JobContext } from './job.ts'

/** Tables of this size are vacuumed even if few of their rows have changed. Postgres itself maintains smaller ones well enough. */
const LARGE_BYTES = 8 << 20
const MIN_DEAD_ROWS = 1000
const MAX_REPORTED_TABLES = 5

interface TableSize {
  name: string
  bytes: number
  dead_rows: number
  is_partitioned: boolean
}

/**
 * The job `database`: removes dead rows of large tables and updates the statistics of the planner, which Postgres does not do by
 * itself for partitioned tables. Rebuilds indexes that an interrupted REINDEX has left invalid.
 */
export async function maintainDatabase({ database, signal, log }: JobContext): Promise<string> {
  const tables = await database.system('maintenance', tx =>
    tx.execute<TableSize & Record<string, unknown>>(sql`
      select c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes,
        coalesce(s.n_dead_tup, 0)::float8 as dead_rows, c.relkind = 'p' as is_partitioned
      from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      order by pg_total_relation_size(c.oid) desc, c.relname`),
  )
  const stored = tables.filter(({ is_partitioned }) => !is_partitioned)
  const worn = stored.filter(({ bytes, dead_rows }) => bytes >= LARGE_BYTES || dead_rows >= MIN_DEAD_ROWS)
  for (const { name } of worn) await database.maintain(`vacuum (analyze) ${quoteIdentifier(name)}`, signal)
  for (const { name, is_partitioned } of tables)
    if (is_partitioned) await database.maintain(`analyze ${quoteIdentifier(name)}`, signal)

  const rebuilt = await rebuildInvalidIndexes({ database, signal })
  const sizes = stored.map(({ name, bytes }) => ({ table: name, bytes }))
  log.info({ tables: sizes.slice(0, MAX_REPORTED_TABLES) }, 'measured largest tables')
  const largest = sizes
    .slice(0, MAX_REPORTED_TABLES)
    .map(({ table, bytes }) => `${table} ${formatBytes(bytes)}`)
  const totalBytes = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const repairs = rebuilt.length > 0 ? `; rebuilt the indexes ${rebuilt.join(', ')}` : ''
  return `maintained ${worn.length} of ${stored.length} tables with ${formatBytes(totalBytes)}; largest: ${largest.join(', ')}${repairs}`
}

/** Returns the names of the indexes. */
async function rebuildInvalidIndexes({
  database,
  signal,
}: Pick<JobContext, 'database' | 'signal'>): Promise<string[]> {
  const invalid = await database.system('maintenance', tx =>
    tx.execute<{ name: string }>(sql`
      select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = 'public'::regnamespace and not i.indisvalid and c.relkind = 'i'`),
  )
  for (const { name } of invalid)
    await database.maintain(`reindex index concurrently ${quoteIdentifier(name)}`, signal)
  return invalid.map(({ name }) => name)
}
