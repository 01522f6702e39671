import { z } from 'zod'
import { pacing } from './media.ts'

const port = z.int().min(1024).max(65535)

/** A STUN or TURN server. STUN finds the public address of a viewer, TURN relays media through firewalls. */
export const iceServer = z.strictObject({
  urls: z
    .array(
      z
        .string()
        .regex(
          /^(stuns?|turns?):[^\s<>"]+$/,
          'must be a STUN or TURN URL such as stun:host:port or turn:host:port',
        ),
    )
    .min(1),
  username: z.string().min(1).optional(),
  credential: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Sent to every authorized viewer; never logged' }),
})
export type IceServer = z.infer<typeof iceServer>

const webrtc = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .meta({ description: 'Serve live views over WebRTC. If false, live views use fragmented MP4 only' }),
  listen: z
    .array(z.union([z.ipv4(), z.ipv6()]))
    .min(1)
    .optional()
    .meta({
      description: 'Addresses to listen on with UDP and TCP. Default: the address on which media listens',
    }),
  ports: z
    .strictObject({ min: port, max: port })
    .refine(({ min, max }) => min <= max, 'min must not be greater than max')
    .default({ min: 40_000, max: 49_999 })
    .meta({
      description:
        'Port range. One port of it is used for all viewers; set min and max to the same value to fix it',
    }),
  announced: z.array(z.string().min(1)).default([]).meta({
    description: 'Addresses or host names announced to viewers. Default: the addresses in listen',
  }),
  ice_servers: z.array(iceServer).default([]),
})
export type WebRtcSettings = z.infer<typeof webrtc>

const recording = z.strictObject({
  folder: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Folder of the recordings. Default: a folder in the data folder' }),
  reserve_bytes: z
    .int()
    .min(0)
    .default(1 << 30)
    .meta({ description: 'Free disk space to maintain, in bytes: the oldest recordings are deleted first' }),
  reserve_percent: z.number().min(0).max(90).default(5).meta({
    description: 'Free disk space to maintain, in percent of the disk. The larger of both reserves applies',
  }),
  segment_s: z
    .int()
    .min(2)
    .max(3600)
    .default(60)
    .meta({ description: 'Target length of a recording file in seconds; a file ends at the next keyframe' }),
})
export type RecordingSettings = z.infer<typeof recording>

/** `eyrie.json`: settings beyond the environment variables. All fields are optional. */
export const settings = z
  .strictObject({
    $schema: z.string().optional().meta({ description: 'URL or path of the JSON Schema, for editors' }),
    engine: z
      .strictObject({
        pacing: pacing.default('realtime').meta({
          description:
            'realtime: frames are dropped under load; all: every frame of a file is analysed, as fast as the machine can',
        }),
        output_log_bytes: z
          .int()
          .min(64 << 20)
          .default(1 << 30)
          .meta({
            description: 'Maximum size of the durable output log; the oldest messages are deleted first',
          }),
        picture_bytes: z
          .int()
          .min(0)
          .default(256 << 20)
          .meta({ description: 'Maximum total size of event pictures; the oldest are deleted first' }),
        picture_interval_ms: z
          .int()
          .min(0)
          .default(1000)
          .meta({ description: 'Minimum time between two event pictures of a channel, in milliseconds' }),
        plugin_package_bytes: z
          .int()
          .min(1 << 10)
          .default(16 << 20)
          .meta({ description: 'Maximum size of an uploaded plugin package' }),
        plugin_unpacked_bytes: z
          .int()
          .min(1 << 10)
          .default(64 << 20)
          .meta({ description: 'Maximum unpacked size of a plugin package' }),
        inference_workers: z
          .int()
          .min(1)
          .max(256)
          .optional()
          .meta({ description: 'Number of inference threads. Default: one for each CPU core' }),
        capacity: z
          .strictObject({
            cores: z.number().positive().max(1024).optional().meta({
              description: 'CPU cores available to all channels together. Default: all cores of the machine',
            }),
          })
          .prefault({}),
        license_pool: z
          .strictObject({ file: z.string().min(1), public_key: z.string().min(1) })
          .optional()
          .meta({
            description: 'Signed license pool file and the public key of its issuer (PEM)',
          }),
      })
      .prefault({}),
    media: z
      .strictObject({
        webrtc: webrtc.prefault({}),
        recording: recording.prefault({}),
        snapshot_s: z.number().min(0).max(60).default(5).meta({
          description: 'Maximum age of a snapshot in seconds; packets of this period are buffered in memory',
        }),
      })
      .prefault({}),
    management: z
      .strictObject({
        retention_days: z
          .int()
          .min(1)
          .max(3650)
          .default(90)
          .meta({ description: 'Retention of events, statistics, notifications and their pictures in days' }),
      })
      .prefault({}),
  })
  .meta({ id: 'Settings' })
export type Settings = z.infer<typeof settings>
