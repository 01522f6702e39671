import { z } from 'zod'

/** What `eyrie plugin bench` asks the engine's code to measure, and the answer. */

export const benchRequest = z.strictObject({
  folder: z.string().meta({ description: 'Folder of the unpacked plugin' }),
  element: z
    .string()
    .optional()
    .meta({ description: 'Name of the element; the only one by default' }),
  args: z.record(z.string(), z.unknown()).default({}),
  config: z.record(z.string(), z.unknown()).optional(),
  frames: z.string().optional().meta({
    description: 'A file with frames: a recording of a file sink, or the truth of a scene',
  }),
  fps: z.number().positive(),
  seconds: z.number().positive(),
})
export type BenchRequest = z.infer<typeof benchRequest>

/** The cost of an element. Times are in milliseconds. */
const benchMeasurement = z.strictObject({
  element: z.string(),
  frames: z.int(),
  round_trip_p50: z.number(),
  round_trip_p99: z.number(),
  cpu_per_frame: z
    .number()
    .meta({ description: 'As the kernel measures it, all threads together' }),
  budget_ms: z.number().optional(),
  peak_rss_bytes: z.number(),
  isolation: z.string(),
})
export type BenchMeasurement = z.infer<typeof benchMeasurement>

export const benchAnswer = z.union([
  z.strictObject({ measured: benchMeasurement }),
  z.strictObject({ problem: z.string() }),
])
