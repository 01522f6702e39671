import { EyrieError } from '@eyrie/contract'

/** EyrieError that names the field at fault: `syntax` unless told otherwise. */
export const fault = (field: string, reason: string, code: 'syntax' | 'id' | 'conflict' = 'syntax') =>
  new EyrieError(code, `${field}: ${reason}`, { value: { fields: [{ field, reason }] } })
