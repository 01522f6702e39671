import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * Whether a column's uuid is one of these. They are one parameter, where `inArray` makes one of each: thousands cost
 * more to write down and to parse than to look up, and every number of them makes another query.
 */
export const among = (column: PgColumn, ids: readonly string[]): SQL =>
  sql`${column} = any (${`{${ids.join(',')}}`}::uuid[])`
