import { sql } from 'drizzle-orm'
import type { Transaction } from './transaction.ts'

/**
 * Runs queries of a user's transaction with access to all rows. Their results must not be returned
 * to the user. If `work` rejects, the transaction has to be rolled back.
 */
export async function withFullScope<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  const [previous] = await tx.execute<{ scope: string }>(
    sql`select coalesce(current_setting('eyrie.scope', true), '') as scope`,
  )
  await tx.execute(sql`select set_config('eyrie.scope', 'all', true)`)
  const result = await work()
  await tx.execute(sql`select set_config('eyrie.scope', ${previous!.scope}, true)`)
  return result
}
