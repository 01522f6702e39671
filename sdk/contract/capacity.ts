import { z } from 'zod'

/**
 * Capacity checks. The engine measures the CPU time that channels need and rejects a configuration
 * that needs more CPU cores than the machine has.
 */

const cores = z.number().min(0)

/** The `value` of a `capacity` error. Demands are in CPU cores. */
export const capacityShortage = z
  .strictObject({
    needed: cores.meta({ description: 'Total demand of all channels' }),
    available: cores.meta({ description: 'CPU cores that channels may use' }),
    decoding: cores.meta({
      description: 'Demand of decoding the sources and scaling their frames',
    }),
    inference: cores.meta({ description: 'Demand of running the models' }),
    elements: cores.meta({ description: 'Demand of the elements of pipelines' }),
    unknown: z.array(z.string()).meta({
      description:
        'Sources, models and elements whose cost has not been measured on this machine; they count as zero',
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
