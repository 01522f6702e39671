import { z } from 'zod'

const cores = z.number().min(0)

/** The `value` of a `capacity` error, in CPU cores. */
export const capacityShortage = z
  .strictObject({
    needed: cores.meta({ description: 'Total demand of all channels' }),
    available: cores,
    decoding: cores.meta({ description: 'Demand of decoding the sources and scaling their frames' }),
    inference: cores,
    elements: cores,
    unknown: z.array(z.string()).meta({
      description: 'Parts whose cost has never been measured on this machine; they count as zero',
    }),
  })
  .meta({ id: 'CapacityShortage' })
export type CapacityShortage = z.infer<typeof capacityShortage>

const override = z.enum(['capacity'])
export type Override = z.infer<typeof override>

export const overrideQuery = z.object({
  override: override
    .optional()
    .meta({ description: 'capacity: proceed even if the machine does not have enough capacity' }),
})
