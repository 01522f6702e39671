import { z } from 'zod'
import { pacing } from './media.ts'

/** `eyrie.json`: what an owner may tune beyond the environment. Every part may be left out. */
export const settings = z
  .strictObject({
    engine: z
      .strictObject({
        pacing: pacing
          .default('realtime')
          .meta({ description: 'all: files are analysed frame by frame, as fast as the machine can' }),
        output_log_bytes: z
          .int()
          .min(64 << 20)
          .default(1 << 30)
          .meta({ description: 'Space of the durable output log; beyond it the oldest messages go' }),
        picture_bytes: z
          .int()
          .min(0)
          .default(256 << 20)
          .meta({ description: 'Space of the pictures of events; beyond it the oldest go' }),
        picture_interval_ms: z
          .int()
          .min(0)
          .default(1000)
          .meta({ description: 'A channel takes one picture of an event in this time at most' }),
        plugin_package_bytes: z
          .int()
          .min(1 << 10)
          .default(16 << 20)
          .meta({ description: 'A plugin package that is uploaded has this size at most' }),
        plugin_unpacked_bytes: z
          .int()
          .min(1 << 10)
          .default(64 << 20)
          .meta({ description: 'What is in a plugin package has this size at most' }),
        inference_workers: z
          .int()
          .min(1)
          .max(256)
          .optional()
          .meta({ description: 'Threads that run models; one for each core if left out' }),
        capacity: z
          .strictObject({
            cores: z
              .number()
              .positive()
              .max(1024)
              .optional()
              .meta({ description: "Cores that channels may need together; the machine's if left out" }),
          })
          .prefault({}),
        license_pool: z
          .strictObject({ file: z.string().min(1), public_key: z.string().min(1) })
          .optional()
          .meta({
            description: "Signed list of licenses besides the community's, and its issuer's key (PEM)",
          }),
      })
      .prefault({}),
  })
  .meta({ id: 'Settings' })
export type Settings = z.infer<typeof settings>
