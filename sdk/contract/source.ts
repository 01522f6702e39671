import { z } from 'zod'
import { id } from './ids.ts'
import { recording, recordingPatch } from './recording.ts'

/**
 * `video` is a camera, `file` is played once in real time, `hosted_video` is a stream of another instance's media,
 * `zmq` and `zmqinternal` are frames that another pipeline sends, `inf` is looped for ever.
 */
export const sourceType = z.enum(['video', 'file', 'hosted_video', 'zmq', 'zmqinternal', 'inf'])
export type SourceType = z.infer<typeof sourceType>

/**
 * The V4L2 device that an address names, as `/dev/video0` or `v4l2:///dev/video0`, or by one of the names that stay the
 * same when devices are plugged in another order. Undefined for all other addresses.
 */
export function videoDevice(url: string): string | undefined {
  return /^(?:v4l2:\/\/)?(\/dev\/(?:video\d+|v4l\/by-(?:id|path)\/[^/]+))$/.exec(url)?.[1]
}

/** `gst_h264`: explicit H.264 chain, best decoder first; `gst`: GStreamer's choice; `ffmpeg`: libavcodec. */
export const decoder = z.enum(['gst_h264', 'gst', 'ffmpeg'])
export type Decoder = z.infer<typeof decoder>

/** What stands in an answer for a password or token; sent back, it keeps the stored one. */
export const hidden = '***'

/** Many a camera is told its password by a parameter: ?user=admin&pwd=… The parts are sign, name and secret. */
export const secretsInQuery =
  /([?&])([^=&#]*(?:pass|pwd|token|secret|ticket|auth|signature|api_?key)[^=&#]*)=([^&#]*)/gi

export const longAddress = z
  .strictObject({
    url: z.string().min(1).max(4096),
    username: z.string().max(256).optional(),
    password: z.string().max(1024).optional(),
    token: z
      .string()
      .regex(/^[\x21-\x7e]*$/, 'a token has no spaces and no other than ASCII characters')
      .max(8192)
      .optional(),
    transport: z.enum(['auto', 'tcp', 'udp']).optional(),
    latency_ms: z.int().min(0).max(60_000).optional(),
    tls_insecure: z.boolean().optional(),
  })
  .meta({ id: 'Address' })
export type LongAddress = z.infer<typeof longAddress>

export const address = z.union([z.string().min(1).max(4096), longAddress])
export type Address = z.infer<typeof address>

const fields = {
  type: sourceType,
  address,
  rate: z.number().positive().optional().meta({ description: 'Frames a second handed to channels' }),
}

/** Body of create and update. */
export const sourceInput = z
  .strictObject({ ...fields, decoder: decoder.default('gst_h264'), recording: recording.optional() })
  .meta({ id: 'SourceInput' })
export type SourceInput = z.infer<typeof sourceInput>

/** Body of modify: a merge patch (RFC 7386), in which null removes. The address is checked whole once it is merged. */
export const sourcePatch = z
  .strictObject({
    type: sourceType,
    address: z.union([z.string().min(1).max(4096), z.partialRecord(longAddress.keyof(), z.unknown())]),
    rate: fields.rate.nullable(),
    decoder: decoder.nullable(),
    recording: recordingPatch,
  })
  .partial()
  .meta({ id: 'SourcePatch' })

export const source = z
  .strictObject({ id, ...fields, decoder, recording: recording.optional() })
  .meta({ id: 'Source' })
export type Source = z.infer<typeof source>
