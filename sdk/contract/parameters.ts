import { z } from 'zod'
import { id } from './ids.ts'

/** Lists may be repeated (`?a=1&a=2`) or separated by commas (`?a=1,2`). */
export const listParameter = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(
    given => (given === undefined ? undefined : [given].flat().flatMap(part => String(part).split(','))),
    z.array(item),
  )

export const flagParameter = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })
  .default(false)
  .meta({ type: 'boolean' })

/** A whole number in a query: decimal digits. */
export const integerParameter = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .pipe(z.int().min(least).max(most))
    .meta({ type: 'integer', minimum: least, maximum: most })

/** An id in a path or query: decimal digits. */
export const idParameter = z
  .string()
  .regex(/^\d{1,10}$/, 'ids are integers from 0 to 2147483647')
  .transform(Number)
  .pipe(id)
  .meta({ type: 'integer' })
