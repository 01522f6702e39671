import { z } from 'zod'

/** Load of the machine and the engine. */
export const systemStatistics = z
  .strictObject({
    cpu: z.number().meta({ description: 'Percent of the machine' }),
    mem_physical: z.number().meta({ description: 'Bytes' }),
    mem_virtual: z.number().meta({ description: 'Bytes' }),
    uptime: z.number().meta({ description: 'Uptime of the engine in seconds' }),
    time: z.iso.datetime(),
  })
  .meta({ id: 'SystemStatistics' })
export type SystemStatistics = z.infer<typeof systemStatistics>

/** Versions of the engine and its runtime. */
export const about = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    api_versions: z.array(z.string()),
    node: z.string(),
    gstreamer: z.string(),
    hostname: z.string(),
  })
  .meta({ id: 'About' })
export type About = z.infer<typeof about>
