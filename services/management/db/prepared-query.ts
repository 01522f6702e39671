import type { Transaction } from './transaction.ts'

/** A query of drizzle, with placeholders for its values. */
interface Query<Result> {
  prepare(name: string): PreparedQuery<Result>
}

interface PreparedQuery<Result> {
  execute(values: Record<string, unknown>): Promise<Result>
}

/**
 * Returns a function that runs a query with values for its placeholders. Drizzle builds its SQL
 * once for a connection instead of at every use, which takes most of the time of a frequent query.
 */
export function definePreparedQuery<Result>(
  build: (tx: Transaction) => Query<Result>,
): (tx: Transaction, values: Record<string, unknown>) => Promise<Result> {
  // The transactions of a connection are one object.
  const queries = new WeakMap<Transaction, PreparedQuery<Result>>()

  return (tx, values) => {
    let query = queries.get(tx)
    if (!query) {
      // The driver ignores the name: see `withPreparedStatements`.
      query = build(tx).prepare('')
      queries.set(tx, query)
    }
    return query.execute(values)
  }
}
