// The weekly partitions of the table `event`, and the SQL that lists and creates them. Backups and
// restores use another client for Postgres than the rest of management.

export const WEEK_MS = 7 * 86_400_000
/** The first Monday of epoch time, 00:00 UTC. */
const FIRST_MONDAY_MS = Date.UTC(1970, 0, 5)
const NAME_PREFIX = 'event_'

/** Selects the names of the weekly partitions as `name`. */
export const LIST_PARTITIONS = `
  select partition.relname as name
  from pg_inherits
  join pg_class partition on partition.oid = pg_inherits.inhrelid
  where pg_inherits.inhparent = 'event'::regclass
    and partition.relname ~ '^event_[0-9]{4}_[0-9]{2}_[0-9]{2}$'
  order by partition.relname`

/** Returns the start of the week of a time, both in epoch ms. Weeks start on Monday, 00:00 UTC. */
export function findWeekStart(timeMs: number): number {
  const weeks = Math.floor((timeMs - FIRST_MONDAY_MS) / WEEK_MS)
  return FIRST_MONDAY_MS + weeks * WEEK_MS
}

/** Returns the first day of a week, such as `2026-01-05`. */
const toFirstDay = (weekMs: number) => new Date(weekMs).toISOString().slice(0, 10)

/** Returns the name of the partition of a week, such as `event_2026_01_05` for its first day. */
export const toPartitionName = (weekMs: number): string =>
  NAME_PREFIX + toFirstDay(weekMs).replaceAll('-', '_')

/** Returns the first day of the week of a partition, such as `2026-01-05`. */
export const parseFirstDay = (partitionName: string): string =>
  partitionName.slice(NAME_PREFIX.length).replaceAll('_', '-')

/**
 * Returns statements that create the partition of a week, by default from its start, or from a
 * later time. In epoch ms.
 */
export function toCreateStatements(weekMs: number, fromMs = weekMs): string[] {
  const name = toPartitionName(weekMs)
  const bounds = `from (${toLiteral(fromMs)}) to (${toLiteral(weekMs + WEEK_MS)})`
  return [
    `create table ${name} partition of event for values ${bounds}`,
    `alter table ${name} enable row level security, force row level security`,
  ]
}

/** Returns a time as a literal, because the bounds of a partition cannot be parameters. */
const toLiteral = (timeMs: number) => `'${new Date(timeMs).toISOString()}'`
