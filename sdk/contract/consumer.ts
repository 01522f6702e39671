import { z } from 'zod'

/** Of a consumer of the output: it begins with a letter or digit, and stands in paths. */
export const consumerName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'a consumer is named by up to 64 letters, digits, _ . and -')

/** A follower of the output that is known by its name: what it has not acknowledged is kept while there is room. */
export const consumer = z
  .strictObject({
    name: consumerName,
    acknowledged: z.int().min(0).meta({ description: 'The last message that it needs no longer' }),
    connected: z.boolean(),
    seen: z.iso.datetime().meta({ description: 'When it was last connected, or acknowledged something' }),
    held: z.number().min(0).max(1).meta({ description: 'Share of the output log that waits for it' }),
  })
  .meta({ id: 'Consumer' })
export type Consumer = z.infer<typeof consumer>
