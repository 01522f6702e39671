/**
 * Returns the row of a query that always returns one, such as the insert of a row. Throws an
 * `Error` if it has returned none.
 */
export function firstRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('the query has returned no row')
  return row
}

/**
 * Postgres accepts at most 65,535 parameters in a statement, and the widest tables have
 * some thirty columns.
 */
const MAX_ROWS = 1000

/** Splits rows or values into parts, each of which one statement can contain. */
export function* splitRows<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += MAX_ROWS) {
    yield rows.slice(start, start + MAX_ROWS)
  }
}
