import { z } from 'zod'
import { pacing } from './media.ts'

const port = z.int().min(1024).max(65535)

/** Helps viewers behind firewalls to reach media: STUN tells them their own address, TURN relays for them. */
export const iceServer = z.strictObject({
  urls: z
    .array(z.string().regex(/^(stuns?|turns?):[^\s<>"]+$/, 'write stun:host:port or turn:host:port'))
    .min(1),
  username: z.string().min(1).optional(),
  credential: z.string().min(1).optional().meta({ description: 'Given to whoever may watch; never logged' }),
})
export type IceServer = z.infer<typeof iceServer>

const webrtc = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'false: live views are fragmented MP4 alone' }),
  listen: z
    .array(z.union([z.ipv4(), z.ipv6()]))
    .min(1)
    .optional()
    .meta({ description: 'Addresses that take UDP and TCP; where media listens if left out' }),
  ports: z
    .strictObject({ min: port, max: port })
    .refine(({ min, max }) => min <= max, 'min must not be above max')
    .default({ min: 40_000, max: 49_999 })
    .meta({
      description: 'One port of these is taken for all viewers; give min and max the same to know which',
    }),
  announced: z.array(z.string().min(1)).default([]).meta({
    description: 'Addresses or names by which viewers reach media; those it listens on if left out',
  }),
  ice_servers: z.array(iceServer).default([]),
})
export type WebRtcSettings = z.infer<typeof webrtc>

const recording = z.strictObject({
  folder: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Where recordings are kept; in the data folder if left out' }),
  reserve_bytes: z
    .int()
    .min(0)
    .default(1 << 30)
    .meta({ description: 'Of the disk, so much stays free of recordings: the oldest go' }),
  reserve_percent: z
    .number()
    .min(0)
    .max(90)
    .default(5)
    .meta({ description: 'The same as a share of the disk; the larger of both counts' }),
  segment_s: z
    .int()
    .min(2)
    .max(3600)
    .default(60)
    .meta({ description: 'Length of a file, up to its next keyframe' }),
})
export type RecordingSettings = z.infer<typeof recording>

/** `eyrie.json`: what an owner may tune beyond the environment. Every part may be left out. */
export const settings = z
  .strictObject({
    $schema: z.string().optional().meta({ description: 'Where editors find what may stand here' }),
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
    media: z
      .strictObject({
        webrtc: webrtc.prefault({}),
        recording: recording.prefault({}),
        snapshot_s: z
          .number()
          .min(0)
          .max(60)
          .default(5)
          .meta({ description: 'Seconds that snapshots go back, for which packets are kept in memory' }),
      })
      .prefault({}),
    management: z
      .strictObject({
        retention_days: z
          .int()
          .min(1)
          .max(3650)
          .default(90)
          .meta({ description: 'Events, statistics, notifications and their pictures are kept so long' }),
      })
      .prefault({}),
  })
  .meta({ id: 'Settings' })
export type Settings = z.infer<typeof settings>
