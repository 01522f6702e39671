import { type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Database } from './database.ts'

/** Number of rows that are changed in one transaction if there may be very many. */
export const BATCH_ROWS = 5_000

/**
 * Deletes the rows of a table that meet a condition. Each batch is a transaction of its own, so
 * that an interrupted deletion continues where it stopped, however many rows there are. Rejects if
 * `signal` aborts.
 */
export async function deleteInBatches(
  database: Database,
  table: PgTable,
  condition: SQL | undefined,
  signal: AbortSignal,
): Promise<void> {
  let deletedRows: number
  do {
    signal.throwIfAborted()
    deletedRows = await database.system('retention', async tx => {
      // A batch is small, and must also succeed on a slow disk.
      await tx.execute(sql`set local statement_timeout = 0`)
      // Rows of two partitions may have the same ctid, so the condition applies to both queries.
      const { count } = await tx.execute(sql`
        delete from ${table}
        where ${condition} and ctid = any (array(
          select ctid from ${table} where ${condition} limit ${sql.raw(String(BATCH_ROWS))}
        ))`)
      return count
    })
  } while (deletedRows >= BATCH_ROWS)
}
