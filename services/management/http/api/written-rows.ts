import { UnchangeableRecordError } from './policy-errors.ts'

/**
 * Returns the first row that an update or delete has changed. Throws `UnchangeableRecordError` if no row was changed: the
 * caller may read the record, because `assertReferencesExist` has found it, but may not change it.
 */
export function assertChanged<Row>([row]: Row[]): Row {
  if (row === undefined) throw new UnchangeableRecordError()
  return row
}
