import { EyrieError } from '@eyrie/contract'

/**
 * The row that an update or a delete has touched. Throws EyrieError `rights` where it has touched none: the record is
 * there, or the request would have ended before, but the caller may only see it.
 */
export function changed<Row>([row]: Row[]): Row {
  if (row === undefined) throw new EyrieError('rights', 'you may see this record, and not change it')
  return row
}
