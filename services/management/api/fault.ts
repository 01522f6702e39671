import { EyrieError } from '@eyrie/contract'
import type { FieldErrors } from '@eyrie/contract/management/index'

type Field = FieldErrors['fields'][number]

interface FaultOptions {
  code?: 'syntax' | 'id' | 'conflict'
  cause?: unknown
}

/** EyrieError that names every field at fault. */
export function faults(fields: Field[], { code = 'syntax', cause }: FaultOptions = {}): EyrieError {
  const text = fields.map(({ field, reason }) => `${field}: ${reason}`).join('; ')
  return new EyrieError(code, text, { value: { fields }, cause })
}

/** EyrieError that names the field at fault. */
export const fault = (field: string, reason: string, options?: FaultOptions) =>
  faults([{ field, reason }], options)
