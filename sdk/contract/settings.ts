import { z } from 'zod'
import { jobSettings } from './jobs.ts'
import { pacing } from './media.ts'

/**
 * The settings file `eyrie.json`, in which an administrator configures the services of an
 * appliance. Services read it when they start. The JSON Schema for editors is generated
 * from these zod schemas.
 */

const KIB = 1 << 10
const MIB = 1 << 20
const GIB = 1 << 30

const port = z.int().min(1024).max(65535)

/**
 * A STUN or TURN server. STUN finds the public address of a viewer, TURN relays
 * streams through firewalls.
 */
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

/** Live streams to browsers over WebRTC. */
const webrtc = z.strictObject({
  enabled: z.boolean().default(true).meta({
    description: 'Serve live streams over WebRTC. If false, they are only served as fragmented MP4',
  }),
  listen: z
    .array(z.union([z.ipv4(), z.ipv6()]))
    .min(1)
    .optional()
    .meta({
      description:
        'Addresses to listen on with UDP and TCP. Default: the address on which the media service listens',
    }),
  ports: z
    .strictObject({ min: port, max: port })
    .refine(({ min, max }) => min <= max, 'min must not be greater than max')
    .default({ min: 40_000, max: 49_999 })
    .meta({
      description:
        'Port range. One port of the range is used for all viewers; set min and max to the same value to fix the port',
    }),
  announced: z.array(z.string().min(1)).default([]).meta({
    description: 'Addresses or host names announced to viewers. Default: the addresses in listen',
  }),
  ice_servers: z.array(iceServer).default([]),
})
export type WebRtcSettings = z.infer<typeof webrtc>

/** Where recordings are stored and how much disk space they leave free. */
const recording = z.strictObject({
  folder: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Folder of the recordings. Default: a folder in the data folder' }),
  reserve_bytes: z.int().min(0).default(GIB).meta({
    description: 'Free disk space to maintain, in bytes: the oldest recordings are deleted first',
  }),
  reserve_percent: z.number().min(0).max(90).default(5).meta({
    description:
      'Free disk space to maintain, in percent of the disk. The larger of reserve_bytes and reserve_percent applies',
  }),
  segment_s: z.int().min(2).max(3600).default(60).meta({
    description: 'Target length of a recording file in seconds; a file ends at the next keyframe',
  }),
})
export type RecordingSettings = z.infer<typeof recording>

/** Licenses of the engine that an issuer has signed, in addition to the community license. */
const licensePool = z.strictObject({ file: z.string().min(1), public_key: z.string().min(1) })

/** The engine analyses video. */
const engine = z.strictObject({
  pacing: pacing.default('realtime').meta({
    description:
      'realtime: frames are dropped under load; all: every frame of a file is analysed, as fast as the machine can',
  }),
  output_log_bytes: z
    .int()
    .min(64 * MIB)
    .default(GIB)
    .meta({
      description: 'Maximum size of the durable output log; the oldest messages are deleted first',
    }),
  picture_bytes: z
    .int()
    .min(0)
    .default(256 * MIB)
    .meta({ description: 'Maximum total size of event pictures; the oldest are deleted first' }),
  picture_interval_ms: z.int().min(0).default(1000).meta({
    description:
      'Minimum time between two event pictures of a channel, in milliseconds. Events in between share the previous picture within a second, so some have none if the interval is longer',
  }),
  plugin_package_bytes: z
    .int()
    .min(KIB)
    .default(16 * MIB)
    .meta({ description: 'Maximum size of an uploaded plugin package' }),
  plugin_unpacked_bytes: z
    .int()
    .min(KIB)
    .default(64 * MIB)
    .meta({ description: 'Maximum unpacked size of a plugin package' }),
  allow_partial_plugin_isolation: z.boolean().default(false).meta({
    description:
      'Whether uploaded plugins run on a machine that lacks some of the boundaries around their processes. It gives their authors the rights of the engine',
  }),
  require_signed_plugins: z.boolean().default(false).meta({
    description:
      'Whether uploaded plugins need the signature of a trusted publisher even while none is trusted. They always need it otherwise',
  }),
  inference_workers: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .meta({ description: 'Number of inference threads. Default: one for each CPU core' }),
  capacity: z
    .strictObject({
      cores: z.number().positive().max(1024).optional().meta({
        description:
          'CPU cores available to all channels together. Default: all cores of the machine',
      }),
    })
    .prefault({}),
  license_pool: licensePool.optional().meta({
    description: 'Signed license pool file and the public key of its issuer (PEM)',
  }),
})

/** The media service decodes, streams and records video. */
const media = z.strictObject({
  webrtc: webrtc.prefault({}),
  recording: recording.prefault({}),
  snapshot_s: z.number().min(0).max(60).default(20).meta({
    description:
      'Maximum age of a snapshot in seconds; packets of this period are buffered in memory',
  }),
})

/** The management service collects the events and statistics of all engines. */
const management = z.strictObject({
  retention_days: z.int().min(1).max(3650).default(90).meta({
    description: 'Retention of events, statistics, notifications and their pictures in days',
  }),
  scheduled_backups: z.boolean().default(false).meta({
    description:
      'Whether management may request backups from a supervisor that root has started. A backup contains the secrets of all services, which management otherwise cannot read',
  }),
  registration: z.boolean().default(true).meta({
    description:
      'Whether anyone may register an account, which has no rights until an administrator accepts it. Administrators can always register users',
  }),
})

/** The scheduler delivers notifications and starts jobs. */
const scheduler = z.strictObject({
  public_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description:
        'Address at which people reach the console, such as https://eyrie.example.com. Messages link to it',
    }),
  timeout_s: z
    .number()
    .min(1)
    .max(300)
    .default(20)
    .meta({ description: 'Time limit for one attempt to deliver a notification, in seconds' }),
  jobs: jobSettings.prefault({}),
  sms_max_segments: z.int().min(1).max(10).default(3).meta({
    description:
      'Number of messages of which an SMS may consist, each of which is charged; longer texts are shortened',
  }),
})

/** The settings file `eyrie.json`. All fields are optional. */
export const settings = z
  .strictObject({
    $schema: z
      .string()
      .optional()
      .meta({ description: 'URL or path of the JSON Schema, for editors' }),
    engine: engine.prefault({}),
    media: media.prefault({}),
    management: management.prefault({}),
    scheduler: scheduler.prefault({}),
  })
  .meta({ id: 'Settings' })
export type Settings = z.infer<typeof settings>
