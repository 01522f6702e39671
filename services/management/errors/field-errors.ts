import { EyrieError } from '@eyrie/contract'
import type { FieldErrors } from '@eyrie/contract/management/index'

type InvalidField = FieldErrors['fields'][number]

interface FieldErrorOptions {
  code?: 'syntax' | 'id' | 'conflict' | 'rights'
  cause?: unknown
}

/** Creates an `EyrieError` (`syntax` by default) that lists each invalid field with the reason. */
export function fieldErrors(
  fields: InvalidField[],
  { code = 'syntax', cause }: FieldErrorOptions = {},
): EyrieError {
  const message = fields.map(({ field, reason }) => `${field}: ${reason}`).join('; ')
  return new EyrieError(code, message, { value: { fields }, cause })
}

/** Creates an `EyrieError` (`syntax` by default) for one invalid field. */
export const fieldError = (field: string, reason: string, options?: FieldErrorOptions) =>
  fieldErrors([{ field, reason }], options)

/**
 * Creates an `EyrieError` (`id`) for fields that refer to records that do not exist or are
 * invisible to the caller.
 */
export const missingRecords = (missing: readonly { field: string; record: string }[]): EyrieError =>
  fieldErrors(
    missing.map(({ field, record }) => ({ field, reason: `no such ${record}` })),
    { code: 'id' },
  )
