import { z } from 'zod'
import { shape } from './exports.ts'
import { counters, detectedObject, eventData } from './object.ts'

/**
 * Recordings of sources: the settings with which the engine API configures them, and the responses
 * of the media service that stores them. Pictures in a recording have two times: the capture time
 * (`time`), and the stream time (`pts`), which starts anew in each run of the media service.
 */

/** When a source is recorded. */
export const recordingMode = z
  .enum(['continuous', 'event'])
  .meta({ description: "continuous: always; event: around the events of the source's channels" })

const BYTES_PER_MIB = 1024 * 1024

const recordingSettings = {
  mode: recordingMode,
  before_s: z
    .number()
    .min(0)
    .max(60)
    .default(5)
    .meta({ description: 'Mode event: minimum number of seconds recorded before an event' }),
  after_s: z
    .number()
    .min(0)
    .max(3600)
    .default(10)
    .meta({ description: 'Mode event: minimum number of seconds recorded after an event' }),
  keep_s: z.int().min(60).optional().meta({
    description:
      'Retention in seconds: older recordings are deleted. Default: recordings are retained while the disk has space',
  }),
  keep_bytes: z.int().min(BYTES_PER_MIB).optional().meta({
    description:
      'Maximum size of all recordings of the source in bytes; the oldest recordings are deleted first',
  }),
  sound: z.boolean().default(true).meta({
    description: 'Whether audio is recorded. Recording audio is not permitted everywhere',
  }),
}

/** How a source is recorded. The encoded stream is stored without transcoding. */
export const recording = z.strictObject(recordingSettings).meta({ id: 'Recording' })
export type Recording = z.infer<typeof recording>

/** Recording settings in a merge patch (RFC 7386). The merged settings are validated as a whole. */
export const recordingPatch = z.partialRecord(recording.keyof(), z.unknown()).nullable()

const time = z.iso.datetime({ offset: true })
const epoch = z
  .int()
  .meta({ description: 'Run of the media service; stream time starts anew in each run' })
const codecs = z.string().meta({ description: 'Codecs as in RFC 6381, separated by commas' })
const pts = z.int().meta({ description: 'Stream time in ticks of 90 kHz, within this epoch' })

/**
 * A recorded time range. It has no gap of two seconds or more, and the same picture size
 * throughout.
 */
export const recordedRange = z
  .strictObject({
    from: time,
    to: time,
    bytes: z.int(),
    codecs,
    width: z.int(),
    height: z.int(),
  })
  .meta({ id: 'RecordedRange' })
export type RecordedRange = z.infer<typeof recordedRange>

/** The state of the recording of one stream. */
export const recordingState = z.enum(['recording', 'waiting', 'failed', 'off']).meta({
  description: [
    'recording: packets are being written',
    'waiting: for an event or for the source',
    'failed: packets cannot be written, see reason',
    'off: recording is disabled, existing recordings are retained',
  ].join('; '),
})
export type RecordingState = z.infer<typeof recordingState>

/** The recordings of one stream. Nothing was recorded between two ranges. */
export const recordedStream = z
  .strictObject({
    stream: z.int().meta({ description: 'Id of the stream' }),
    state: recordingState,
    reason: z.string().optional().meta({ description: 'Why packets cannot be written' }),
    dropped: z.int().meta({
      description:
        'Packets lost because the disk was too slow or full, since the media service started',
    }),
    first: time.optional().meta({
      description: 'Capture time of the first recorded picture, regardless of the requested range',
    }),
    last: time.optional().meta({ description: 'Capture time of the last recorded picture' }),
    ranges: z.array(recordedRange),
  })
  .meta({ id: 'RecordedStream' })
export type RecordedStream = z.infer<typeof recordedStream>

/** Response of `GET /recordings`. */
export const recordingList = z
  .strictObject({
    rebuilding: z
      .boolean()
      .meta({ description: 'The index is being rebuilt from the files; the list is incomplete' }),
    free_bytes: z.int().meta({ description: 'Free space of the disk' }),
    reserve_bytes: z.int().meta({
      description: 'Space to keep free: with less, the oldest recordings are deleted',
    }),
    streams: z.array(recordedStream),
  })
  .meta({ id: 'RecordingList' })
export type RecordingList = z.infer<typeof recordingList>

/** Response of `DELETE /recordings/{stream}`: the number and size of the deleted files. */
export const recordingsDeleted = z.strictObject({ files: z.int(), bytes: z.int() })
export type RecordingsDeleted = z.infer<typeof recordingsDeleted>

/** A line of `GET /recordings/{stream}/metadata`: the result of a channel for one frame. */
export const recordedFrame = z
  .strictObject({
    channel: z.int(),
    epoch,
    pts,
    time,
    at: z.number().meta({
      description: 'Playback position of the frame: seconds from the start of the requested range',
    }),
    objects: z.array(detectedObject),
    counters,
    shapes: z.array(shape).optional().meta({
      description:
        'Lines and zones of the channel from this frame on; sent with its first frame and then about once a second',
    }),
  })
  .meta({ id: 'RecordedFrame' })
export type RecordedFrame = z.infer<typeof recordedFrame>

/** An event in a recorded frame. */
export const recordedEvent = z
  .strictObject({ channel: z.int(), epoch, pts, time, data: eventData })
  .meta({ id: 'RecordedEvent' })
export type RecordedEvent = z.infer<typeof recordedEvent>

/**
 * Response of `GET /recordings/{stream}/events`, oldest first. `more` is true if the list is
 * truncated.
 */
export const recordedEventList = z
  .strictObject({ events: z.array(recordedEvent), more: z.boolean() })
  .meta({ id: 'RecordedEventList' })
export type RecordedEventList = z.infer<typeof recordedEventList>

/**
 * Response of `GET /recordings/{stream}/segments`: the files on disk. `open` is true for a file
 * that is being written.
 */
export const recordedSegmentList = z
  .strictObject({
    segments: z.array(
      z.strictObject({
        name: z.string(),
        from: time,
        to: time,
        bytes: z.int(),
        codecs,
        open: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'RecordedSegmentList' })
export type RecordedSegmentList = z.infer<typeof recordedSegmentList>

/** Time range of a request. */
export const recordingQuery = z.object({ from: time.optional(), to: time.optional() })

/** Ids of channels, separated by commas. An empty text selects no channel. */
const channelList = z
  .string()
  .transform(text => text.split(',').filter(Boolean))
  .pipe(z.array(z.coerce.number<string>().int().min(1)))

/** Query of events or metadata. Without `channels`, the response contains those of all channels. */
export const recordedResultsQuery = recordingQuery.extend({ channels: channelList.optional() })

/** The display name of a recorded source. */
export const recordedSource = z.strictObject({ id: z.int(), name: z.string() })
export type RecordedSource = z.infer<typeof recordedSource>
