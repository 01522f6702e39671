import { z } from 'zod'
import { addressObject } from './address.ts'
import { cameraClock } from './camera.ts'
import { shape } from './exports.ts'
import { id } from './ids.ts'
import { bbox, counters, detectedObject, eventData } from './object.ts'
import { pictureStatistics } from './picture-statistics.ts'
import { recording, recordingState } from './recording.ts'
import { decoder, sourceType } from './source.ts'
import { viewSpec } from './view.ts'

/**
 * The control connection: a WebSocket from the engine, which analyses video, to the media service,
 * which receives and decodes it. The engine sends the complete desired state, and the media service
 * applies the differences.
 *
 * The connection carries no pixels. Each element of the engine reads a view of a source: its frames
 * in one size and format. The media service writes them to a file in shared memory, a frame ring
 * (`ring.ts`), one for each view.
 *
 * Ten seconds after the connection is lost, the media service removes the views. Sources keep
 * running, so that live streams survive a restart of the engine.
 *
 * In all messages, `n` is the number of a frame, counted from 1, and `pts` its stream
 * time in ticks of 90 kHz.
 */
export const CONTROL_PATH = '/internal/control'

/**
 * `realtime`: frames are dropped if a reader is too slow. `all`: the media service waits until a
 * reader grants a frame.
 */
export const pacing = z.enum(['realtime', 'all'])
export type Pacing = z.infer<typeof pacing>

/** A source in the desired state. */
export const desiredSource = z.strictObject({
  id,
  type: sourceType,
  address: addressObject,
  decoder,
  rate: z.number().positive().optional(),
  pacing,
  recording: recording.optional(),
  /** Views of the source, by a key that messages about a view contain. */
  views: z.record(z.string(), viewSpec),
})
export type DesiredSource = z.infer<typeof desiredSource>

/**
 * Name of an annotated stream. The name has no `--`, except before an optional
 * channel id at the end.
 */
export const hostedStreamName = z
  .string()
  .regex(/^(?=.{1,64}(--|$))[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*(--\d{1,10})?$/)

/**
 * An annotated stream at `/streams/{name}`: the analysed frames of a source with detected
 * objects drawn on them.
 */
export const hostedStream = z.strictObject({ name: hostedStreamName, source: id })
export type HostedStream = z.infer<typeof hostedStream>

/**
 * Annotations of one frame. `colour` is an arbitrary key: objects with equal keys are
 * drawn in the same colour.
 */
export const drawing = z.strictObject({
  objects: z.array(z.strictObject({ bbox, label: z.string(), colour: z.string() })),
  shapes: z.array(shape),
})
export type Drawing = z.infer<typeof drawing>

/** The result of a channel for one frame of a recorded source, stored with the recording. */
export const resultToRecord = z.strictObject({
  source: id,
  channel: id,
  pts: z.int(),
  objects: z.array(detectedObject),
  counters,
  /** Lines and zones of the channel. They rarely change and are sent about once a second. */
  shapes: z.array(shape).optional(),
})
export type ResultToRecord = z.infer<typeof resultToRecord>

/** An event in a frame of a recorded source. `time` is the capture time of the frame. */
export const eventToRecord = z.strictObject({
  source: id,
  channel: id,
  pts: z.int(),
  time: z.iso.datetime(),
  data: eventData,
})
export type EventToRecord = z.infer<typeof eventToRecord>

/** Request body of `POST /streams/{id}/snapshot.jpg`. */
export const snapshotRequest = z.strictObject({
  pts: z.int().min(0).optional(),
  width: z.int().min(16).max(8192).optional(),
  /** Regions that are made unrecognizable. */
  hidden: z.array(bbox).max(1000).optional(),
  drawing: drawing.optional(),
})
export type SnapshotRequest = z.infer<typeof snapshotRequest>

/** A message from the engine to the media service. */
export const messageToMedia = z.discriminatedUnion('type', [
  /** The complete desired state. */
  z.strictObject({
    type: z.literal('apply'),
    /** Increases with each desired state. The media service confirms it with `applied`. */
    revision: z.int(),
    sources: z.array(desiredSource),
    hosted: z.array(hostedStream).optional(),
  }),
  /** Annotations of frame n of the stream. Sent only while the stream is being watched. */
  z.strictObject({ type: z.literal('draw'), stream: hostedStreamName, n: z.int(), drawing }),
  /** For the recording of the source, like `result`. */
  eventToRecord.extend({ type: z.literal('event') }),
  resultToRecord.extend({ type: z.literal('result') }),
  /** With pacing `all`: the media service may write frames up to n. */
  z.strictObject({
    type: z.literal('grant'),
    source: id,
    view: z.string(),
    n: z.int(),
    /**
     * The last frame that the engine has read. While the engine has many unread frames, no
     * `frame` messages are sent.
     */
    read: z.int().optional(),
  }),
])
export type MessageToMedia = z.infer<typeof messageToMedia>

/** The state of a source: whether its frames arrive. */
export const sourceState = z.enum(['connecting', 'running', 'reconnecting', 'ended', 'failed'])
export type SourceState = z.infer<typeof sourceState>

/** Which stream of a source is analysed, and the state of its sub stream. */
export const subStreamStatus = z.strictObject({
  /** False while the sub stream is lost, so that the main stream is analysed. */
  analysed: z.boolean(),
  state: sourceState,
  reason: z.string().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  fps: z.number().optional(),
  codec: z.string().optional(),
})
export type SubStreamStatus = z.infer<typeof subStreamStatus>

/**
 * Status of a source. `reason` describes the problem and its remedy. Of a source with a sub stream,
 * size, frame rate and codec are those of the main stream; state, decoder, clock and loss those of
 * the analysed stream.
 */
export const sourceStatus = z.strictObject({
  id,
  state: sourceState,
  reason: z.string().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  fps: z.number().optional(),
  codec: z.string().optional(),
  decoder: z.string().optional(),
  /** Consecutive failed attempts to connect. Absent while the source is connected. */
  attempts: z.int().optional(),
  /** Time of the next attempt to connect. */
  next_try_at: z.iso.datetime().optional(),
  /** The clock that provides the capture time, if the source is a camera. */
  clock: cameraClock.optional(),
  /** Share of lost packets, 0 to 1. Absent if the loss is negligible. */
  loss: z.number().optional(),
  /** Absent for a source without a sub stream. */
  sub: subStreamStatus.optional(),
})
export type SourceStatus = z.infer<typeof sourceStatus>

/** A message from the media service to the engine. */
export const messageFromMedia = z.discriminatedUnion('type', [
  /** First message of a connection. Live streams are served at `hostname` and `port`. */
  z.strictObject({
    type: z.literal('hello'),
    /** Identifies the current run of the media service. Stream time starts anew in each run. */
    epoch: z.int(),
    gstreamer: z.string(),
    hostname: z.string(),
    port: z.int(),
  }),
  z.strictObject({ type: z.literal('applied'), revision: z.int() }),
  z.strictObject({ type: z.literal('source'), status: sourceStatus }),
  /** The frame ring of a view can be opened, or must be reopened because its layout has changed. */
  z.strictObject({
    type: z.literal('view'),
    source: id,
    view: z.string(),
    path: z.string(),
    /** Tells a ring from earlier rings at the same path. */
    generation: z.int(),
  }),
  z.strictObject({
    type: z.literal('view-failed'),
    source: id,
    view: z.string(),
    reason: z.string(),
  }),
  /**
   * Cost of a decoded source, measured over the last seconds: `fps` is the number of decoded frames
   * per second, before the rate limit of the source; `decode_ms` is the CPU time per decoded frame;
   * `scale_ms` is the CPU time per frame of one view.
   */
  z.strictObject({
    type: z.literal('cost'),
    source: id,
    fps: z.number().positive(),
    decode_ms: z.number().min(0),
    scale_ms: z.number().min(0).optional(),
  }),
  /** The condition of a source, sent every few seconds. */
  z.strictObject({
    type: z.literal('condition'),
    source: id,
    /** Received frames per second since the previous message. */
    received_fps: z.number().min(0),
    /** Absent while recording is off. */
    recording: z.strictObject({ state: recordingState, reason: z.string().optional() }).optional(),
    /** Absent while the source is not decoded. */
    picture: pictureStatistics.optional(),
  }),
  /**
   * Results of another engine, received in a ZeroMQ message. They are sent before the frame with
   * the same `pts`, if that frame is sent at all. `time` is in microseconds since 1970.
   */
  z.strictObject({
    type: z.literal('findings'),
    source: id,
    pts: z.int(),
    time: z.int(),
    objects: z.array(detectedObject),
    events: z.array(eventData),
    discontinuity: z.boolean(),
  }),
  /** Whether an annotated stream has viewers. */
  z.strictObject({ type: z.literal('watched'), stream: hostedStreamName, watched: z.boolean() }),
  /**
   * The annotated stream is unavailable for this reason, or available again if there is no reason.
   */
  z.strictObject({
    type: z.literal('stream'),
    stream: hostedStreamName,
    reason: z.string().optional(),
  }),
  /**
   * Frame n of a view is in the ring. The header of the ring is authoritative. `time` is in
   * microseconds since 1970.
   */
  z.strictObject({
    type: z.literal('frame'),
    source: id,
    view: z.string(),
    n: z.int(),
    pts: z.int(),
    time: z.int(),
    discontinuity: z.boolean(),
  }),
])
export type MessageFromMedia = z.infer<typeof messageFromMedia>
