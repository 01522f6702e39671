import { EyrieError } from '@eyrie/contract'
import type { FieldErrors } from '@eyrie/contract/management/index'

type InvalidField = FieldErrors['fields'][number]

interface FieldErrorOptions {
  code?: 'syntax' | 'id' | 'conflict'
  cause?: unknown
}

/** An `EyrieError` (`syntax` by default) that lists every invalid field with the reason. */
export function fieldErrors(
  fields: InvalidField[],
  { code = 'syntax', cause }: FieldErrorOptions = {},
): EyrieError {
  const text = fields.map(({ field, reason }) => `${field}: ${reason}`).join('; ')
  return new EyrieError(code, text, { value: { fields }, cause })
}

/** An `EyrieError` (`syntax` by default) for one invalid field. */
export const fieldError = (field: string, reason: string, options?: FieldErrorOptions) =>
  fieldErrors([{ field, reason }], options)

/** An `EyrieError` (`id`) that lists the fields whose records do not exist or are invisible to the caller. */
export const missingRecords = (missing: readonly { field: string; record: string }[]): EyrieError =>
  fieldErrors(
    missing.map(({ field, record }) => ({ field, reason: `no such ${record}` })),
    { code: 'id' },
  )
