import { z } from 'zod'
import { address, addressPatch } from './address.ts'
import { id } from './ids.ts'
import { recording, recordingPatch } from './recording.ts'

/**
 * A source provides the video that pipelines analyse. Its type determines where the video comes
 * from:
 * - `video`: a camera
 * - `file`: a file, played once in real time
 * - `inf`: a file, played in an endless loop
 * - `hosted_video`: a stream of the media service of another appliance
 * - `zmq`: frames that another engine or program publishes with ZeroMQ
 * - `zmqinternal`: frames that another pipeline of the same engine publishes
 */
export const sourceType = z.enum(['video', 'file', 'hosted_video', 'zmq', 'zmqinternal', 'inf'])
export type SourceType = z.infer<typeof sourceType>

/**
 * Decoder of a source:
 * - `gst_h264`: the best decoder available for the codec of the source, hardware first. The name
 *   dates from when it only supported H.264
 * - `gst`: the decoder that GStreamer selects
 * - `ffmpeg`: libavcodec
 */
export const decoder = z.enum(['gst_h264', 'gst', 'ffmpeg'])
export type Decoder = z.infer<typeof decoder>

const fields = {
  type: sourceType,
  address,
  rate: z
    .number()
    .positive()
    .optional()
    .meta({ description: 'Maximum frames per second passed to channels' }),
}

/** Request body that creates or replaces a source. */
export const sourceInput = z
  .strictObject({
    ...fields,
    decoder: decoder.default('gst_h264'),
    recording: recording.optional(),
  })
  .meta({ id: 'SourceInput' })
export type SourceInput = z.infer<typeof sourceInput>

/** Request body that modifies a source: a merge patch (RFC 7386), in which null removes a field. */
export const sourcePatch = z
  .strictObject({
    type: sourceType,
    address: addressPatch,
    rate: fields.rate.nullable(),
    decoder: decoder.nullable(),
    recording: recordingPatch,
  })
  .partial()
  .meta({ id: 'SourcePatch' })

/** A source as the API returns it. */
export const source = z
  .strictObject({ id, ...fields, decoder, recording: recording.optional() })
  .meta({ id: 'Source' })
export type Source = z.infer<typeof source>
