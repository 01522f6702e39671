import { z } from 'zod'
import { id } from './ids.ts'

/** Schemas of parameters in paths and queries, where every value is text. */

/**
 * A list: the parameter is repeated (`?a=1&a=2`) or its values are separated by commas (`?a=1,2`).
 */
export const listParameter = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(splitList, z.array(item))

/** Splits the values of a parameter at commas. Returns an absent value unchanged. */
export function splitList(value: unknown): string[] | null | undefined {
  // API documents describe a parameter that accepts null as optional.
  if (value === undefined || value === null) return value
  const values = Array.isArray(value) ? value : [value]
  return values.flatMap(text => String(text).split(','))
}

/** A boolean: `true` or `1`, `false` or `0`. */
export const booleanParameter = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })
  .meta({ type: 'boolean' })

/** A boolean that is false if the parameter is absent. */
export const flagParameter = booleanParameter.default(false).meta({ type: 'boolean' })

/** An integer in decimal digits. */
export const integerParameter = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max })

/** An id in decimal digits. */
export const idParameter = z
  .string()
  .regex(/^\d{1,10}$/, 'ids are integers from 0 to 2147483647')
  .transform(Number)
  .pipe(id)
  .meta({ type: 'integer' })
