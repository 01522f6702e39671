import { formatBytes } from '@eyrie/contract/format-bytes'
import { sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { quoteIdentifier } from '../db/server-requirements.ts'
import type { JobContext } from './job.ts'

/**
 * Larger tables are vacuumed in every run. Postgres itself maintains smaller ones well enough,
 * unless many of their rows are dead.
 */
const LARGE_TABLE_BYTES = 8 << 20
const MIN_DEAD_ROWS = 1000
const MAX_REPORTED_TABLES = 5

interface Table {
  name: string
  bytes: number
  dead_rows: number
  /** Whether the table stores its rows in partitions, which are tables of their own. */
  is_partitioned: boolean
}

/**
 * The job `database`: removes dead rows of large tables and updates the statistics of the planner,
 * which Postgres does not do by itself for partitioned tables. Rebuilds indexes that an interrupted
 * REINDEX has left invalid.
 */
export async function maintainDatabase({ database, signal, log }: JobContext): Promise<string> {
  const tables = await listTables(database)
  const partitionedTables = tables.filter(({ is_partitioned }) => is_partitioned)
  const storedTables = tables.filter(({ is_partitioned }) => !is_partitioned)
  const vacuumedTables = storedTables.filter(
    ({ bytes, dead_rows }) => bytes >= LARGE_TABLE_BYTES || dead_rows >= MIN_DEAD_ROWS,
  )
  for (const { name } of vacuumedTables) {
    await database.maintain(`vacuum (analyze) ${quoteIdentifier(name)}`, signal)
  }
  for (const { name } of partitionedTables) {
    await database.maintain(`analyze ${quoteIdentifier(name)}`, signal)
  }
  const rebuiltIndexes = await rebuildInvalidIndexes({ database, signal })

  const largestTables = storedTables.slice(0, MAX_REPORTED_TABLES)
  log.info(
    { tables: largestTables.map(({ name, bytes }) => ({ table: name, bytes })) },
    'measured largest tables',
  )
  const totalBytes = storedTables.reduce((sum, { bytes }) => sum + bytes, 0)
  const sizes = largestTables.map(({ name, bytes }) => `${name} ${formatBytes(bytes)}`)
  return [
    `maintained ${vacuumedTables.length} of ${storedTables.length} tables with ${formatBytes(totalBytes)}`,
    `largest: ${sizes.join(', ')}`,
    ...(rebuiltIndexes.length > 0 ? [`rebuilt the indexes ${rebuiltIndexes.join(', ')}`] : []),
  ].join('; ')
}

/** Returns the tables of the application, the largest first. */
const listTables = (database: Database): Promise<Table[]> =>
  database.system('maintenance', tx =>
    tx.execute<Table & Record<string, unknown>>(sql`
      select
        relation.relname as name,
        pg_total_relation_size(relation.oid)::float8 as bytes,
        coalesce(usage.n_dead_tup, 0)::float8 as dead_rows,
        relation.relkind = 'p' as is_partitioned
      from pg_class relation
      left join pg_stat_user_tables usage on usage.relid = relation.oid
      where relation.relnamespace = 'public'::regnamespace
        and relation.relkind in ('r', 'p') -- Tables, and partitioned tables.
      order by pg_total_relation_size(relation.oid) desc, relation.relname`),
  )

/** Rebuilds the invalid indexes and returns their names. */
async function rebuildInvalidIndexes({
  database,
  signal,
}: Pick<JobContext, 'database' | 'signal'>): Promise<string[]> {
  const invalid = await database.system('maintenance', tx =>
    tx.execute<{ name: string }>(sql`
      select relation.relname as name
      from pg_index index
      join pg_class relation on relation.oid = index.indexrelid
      where relation.relnamespace = 'public'::regnamespace
        and relation.relkind = 'i' -- Not the indexes of partitioned tables.
        and not index.indisvalid`),
  )
  for (const { name } of invalid) {
    await database.maintain(`reindex index concurrently ${quoteIdentifier(name)}`, signal)
  }
  return invalid.map(({ name }) => name)
}
