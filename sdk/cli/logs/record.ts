import { z } from 'zod'

/** A line of the appliance's log, as services write it: levels 20 debug, 30 info, 40 warn, 50 error, 60 fatal. */
export const logRecord = z.looseObject({
  level: z.number(),
  time: z.iso.datetime(),
  service: z.string(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string() }).optional().catch(undefined),
})
export type LogRecord = z.infer<typeof logRecord>

/** From the least to the most severe, with the level from which on a record is so. */
export const severities = { debug: 0, info: 30, warn: 40, error: 50 }
export type Severity = keyof typeof severities

export function severityOf({ level }: LogRecord): Severity {
  const names = Object.keys(severities) as Severity[]
  return names.findLast(name => level >= severities[name]) ?? 'debug'
}
