import { z } from 'zod'

/** One thing that a version of a plugin asks for, and that a person grants. */
export const requestedCapability = z
  .strictObject({
    element: z.string().meta({ description: 'Name of the element that asks for it' }),
    capability: z
      .enum(['frames', 'inference', 'network', 'storage_bytes', 'budget_ms', 'events', 'counters'])
      .meta({ description: 'The field of its capabilities' }),
    description: z.string().meta({
      description:
        'What the element then does, for humans, such as `sends requests to api.example.com:443`',
    }),
  })
  .meta({ id: 'RequestedCapability' })
export type RequestedCapability = z.infer<typeof requestedCapability>
