import { z } from 'zod'

/** `cpu`: percent of the machine; memory in bytes; `uptime` of the engine in seconds. */
export const systemStatistics = z
  .strictObject({
    cpu: z.number(),
    mem_physical: z.number(),
    mem_virtual: z.number(),
    uptime: z.number(),
    time: z.iso.datetime(),
  })
  .meta({ id: 'SystemStatistics' })
export type SystemStatistics = z.infer<typeof systemStatistics>

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
