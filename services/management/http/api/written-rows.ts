import { UnchangeableRecordError } from './policy-errors.ts'

/** Returns the row of a record that was inserted. Without a conflict clause, an insert returns its row or fails. */
export function getInserted<Row>([row]: Row[]): Row {
  if (row === undefined) throw new Error('the insert has returned no row')
  return row
}

/**
 * Returns the first row that an update or delete has changed. Throws `UnchangeableRecordError` if no row was changed: the
 * caller may read the record, because `assertReferencesExist` has found it, but may not change it.
 */
export function assertChanged<Row>([row]: Row[]): Row {
  if (row === undefined) throw new UnchangeableRecordError()
  return row
}
