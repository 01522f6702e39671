import { EyrieError } from '@eyrie/contract'

interface FaultOptions {
  code?: 'syntax' | 'id' | 'conflict'
  cause?: unknown
}

/** EyrieError that names the field at fault. */
export const fault = (field: string, reason: string, { code = 'syntax', cause }: FaultOptions = {}) =>
  new EyrieError(code, `${field}: ${reason}`, { value: { fields: [{ field, reason }] }, cause })
