import { z } from 'zod'
import { shape } from './exports.ts'
import { counters, detectedObject, eventData } from './object.ts'

/** `continuous`: all of the time; `event`: around the events of the source's channels. */
export const recordingMode = z.enum(['continuous', 'event'])

const fields = {
  mode: recordingMode,
  before_s: z
    .number()
    .min(0)
    .max(60)
    .default(5)
    .meta({ description: 'Mode event: seconds before an event that are recorded at least' }),
  after_s: z
    .number()
    .min(0)
    .max(3600)
    .default(10)
    .meta({ description: 'Mode event: seconds after an event that are recorded at least' }),
  keep_s: z
    .int()
    .min(60)
    .optional()
    .meta({ description: 'What is older goes; kept for as long as the disk has room if left out' }),
  keep_bytes: z
    .int()
    .min(1 << 20)
    .optional()
    .meta({ description: 'Beyond this size the oldest of the source goes' }),
  sound: z
    .boolean()
    .default(true)
    .meta({ description: 'With the sound, where the source has any; not everywhere may it be recorded' }),
}

/** How a source is recorded. What the camera sends is kept as it is, without decoding it. */
export const recording = z.strictObject(fields).meta({ id: 'Recording' })
export type Recording = z.infer<typeof recording>

/** In a merge patch; checked whole once it is merged. */
export const recordingPatch = z.partialRecord(recording.keyof(), z.unknown()).nullable()

const time = z.iso.datetime({ offset: true })

/** A time without a hole of two seconds or more, in which the picture has one size. */
export const recordedRange = z
  .strictObject({
    from: time,
    to: time,
    bytes: z.int(),
    codecs: z.string(),
    width: z.int(),
    height: z.int(),
  })
  .meta({ id: 'RecordedRange' })
export type RecordedRange = z.infer<typeof recordedRange>

/**
 * `recording`: packets are being written; `waiting`: for an event, or for the source; `failed`: the disk does not take
 * what comes, and `reason` says why; `off`: it is recorded no longer, and what is there is kept on.
 */
export const recordingState = z.enum(['recording', 'waiting', 'failed', 'off'])
export type RecordingState = z.infer<typeof recordingState>

/** What is recorded of one stream; what lies between two ranges was not. */
export const recordedStream = z
  .strictObject({
    stream: z.int(),
    state: recordingState,
    reason: z.string().optional(),
    /** Packets that were not written since media started, because the disk was too slow or full. */
    dropped: z.int(),
    /** When the first and the last picture of all that is recorded were taken, whatever time was asked for. */
    first: time.optional(),
    last: time.optional(),
    ranges: z.array(recordedRange),
  })
  .meta({ id: 'RecordedStream' })
export type RecordedStream = z.infer<typeof recordedStream>

/** Answer of `GET /recordings`. `rebuilding`: the index is being read from the files, and there is more than is listed. */
export const recordingList = z
  .strictObject({
    rebuilding: z.boolean(),
    free_bytes: z.int(),
    reserve_bytes: z.int(),
    streams: z.array(recordedStream),
  })
  .meta({ id: 'RecordingList' })
export type RecordingList = z.infer<typeof recordingList>

/** Answer of `DELETE /recordings/{stream}`. */
export const recordingsDeleted = z.strictObject({ files: z.int(), bytes: z.int() })
export type RecordingsDeleted = z.infer<typeof recordingsDeleted>

/** A line of `GET /recordings/{stream}/metadata`: what a channel had found in one frame. */
export const recordedFrame = z
  .strictObject({
    channel: z.int(),
    epoch: z.int(),
    pts: z.int().meta({ description: '90 kHz ticks of stream time in this epoch' }),
    time,
    at: z.number().meta({ description: 's from the beginning of the playback of the same range' }),
    objects: z.array(detectedObject),
    counters,
    shapes: z.array(shape).optional().meta({
      description:
        'Lines and zones of the channel from here on; with its first frame, and then about once a second',
    }),
  })
  .meta({ id: 'RecordedFrame' })
export type RecordedFrame = z.infer<typeof recordedFrame>

/** Something that happened at a recorded frame. */
export const recordedEvent = z
  .strictObject({
    channel: z.int(),
    epoch: z.int(),
    pts: z.int().meta({ description: '90 kHz ticks of stream time in this epoch' }),
    time,
    data: eventData,
  })
  .meta({ id: 'RecordedEvent' })
export type RecordedEvent = z.infer<typeof recordedEvent>

/** Answer of `GET /recordings/{stream}/events`, the oldest first. `more`: there are more than are listed at once. */
export const recordedEventList = z
  .strictObject({ events: z.array(recordedEvent), more: z.boolean() })
  .meta({ id: 'RecordedEventList' })
export type RecordedEventList = z.infer<typeof recordedEventList>

/** Answer of `GET /recordings/{stream}/segments`: the files as they lie on the disk. `open`: it is being written. */
export const recordedSegmentList = z
  .strictObject({
    segments: z.array(
      z.strictObject({
        name: z.string(),
        from: time,
        to: time,
        bytes: z.int(),
        codecs: z.string(),
        open: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'RecordedSegmentList' })
export type RecordedSegmentList = z.infer<typeof recordedSegmentList>

export const recordingQuery = z.object({ from: time.optional(), to: time.optional() })

/** A source as people call it, for lists of what is recorded. */
export const recordedSource = z.strictObject({ id: z.int(), name: z.string() })
export type RecordedSource = z.infer<typeof recordedSource>
