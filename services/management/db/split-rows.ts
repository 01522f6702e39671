/** Postgres accepts at most 65,535 parameters in a statement, and the widest tables have some thirty columns. */
const MAX_ROWS = 1000

/** Splits rows into parts, each of which one statement can insert. */
export function* splitRows<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += MAX_ROWS) yield rows.slice(start, start + MAX_ROWS)
}
