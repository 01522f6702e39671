import { z } from 'zod'
import { id } from './ids.ts'

/** A list in a query: repeated (`?a=1&a=2`) or separated by commas (`?a=1,2`). */
export const listParameter = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(
    value => (value === undefined ? undefined : [value].flat().flatMap(part => String(part).split(','))),
    z.array(item),
  )

/** A boolean in a query: `true` or `1`, `false` or `0`. */
export const flagParameter = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })
  .default(false)
  .meta({ type: 'boolean' })

/** An integer in a query, in decimal digits. */
export const integerParameter = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max })

/** An id in a path or query, in decimal digits. */
export const idParameter = z
  .string()
  .regex(/^\d{1,10}$/, 'ids are integers from 0 to 2147483647')
  .transform(Number)
  .pipe(id)
  .meta({ type: 'integer' })
