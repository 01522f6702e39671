import { z } from 'zod'
import { addressObject } from './address.ts'
import { cameraClock } from './camera.ts'
import { shape } from './exports.ts'
import { id } from './ids.ts'
import { bbox, counters, detectedObject, eventData } from './object.ts'
import { recording } from './recording.ts'
import { decoder, sourceType } from './source.ts'
import { viewSpec } from './view.ts'

/**
 * The control connection is one WebSocket from the engine to media. The engine sends the complete desired state and
 * media applies the differences. The connection is also a lease: ten seconds after it is lost, media removes the views.
 * Sources keep running, so that live views survive a restart of the engine.
 */
export const controlPath = '/internal/control'

/** `realtime`: frames are dropped when a reader is too slow. `all`: every frame waits for a grant of its reader. */
export const pacing = z.enum(['realtime', 'all'])
export type Pacing = z.infer<typeof pacing>

export const desiredSource = z.strictObject({
  id,
  type: sourceType,
  address: addressObject,
  decoder,
  rate: z.number().positive().optional(),
  pacing,
  recording: recording.optional(),
  /** Views by the key that messages about them carry. */
  views: z.record(z.string(), viewSpec),
})
export type DesiredSource = z.infer<typeof desiredSource>

/** Name of an annotated stream: a name without `--`, optionally followed by `--` and a channel id. */
export const hostedStreamName = z
  .string()
  .regex(/^(?=.{1,64}(--|$))[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*(--\d{1,10})?$/)

/** An annotated stream at `/streams/{name}`: the analysed frames of a source with detected objects drawn on them. */
export const hostedStream = z.strictObject({ name: hostedStreamName, source: id })
export type HostedStream = z.infer<typeof hostedStream>

/** Annotations of one frame. `colour` is a key: objects with equal keys are drawn in the same colour. */
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
  /** Lines and zones of the channel. They seldom change and are sent about once a second. */
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
  /** Regions to obscure. */
  hidden: z.array(bbox).max(1000).optional(),
  drawing: drawing.optional(),
})
export type SnapshotRequest = z.infer<typeof snapshotRequest>

export const messageToMedia = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('apply'),
    revision: z.int(),
    sources: z.array(desiredSource),
    hosted: z.array(hostedStream).optional(),
  }),
  /** Annotations of frame n of the stream. Sent only while the stream is being watched. */
  z.strictObject({ type: z.literal('draw'), stream: hostedStreamName, n: z.int(), drawing }),
  eventToRecord.extend({ type: z.literal('event') }),
  resultToRecord.extend({ type: z.literal('result') }),
  /** With pacing `all`: media may write frames up to n. */
  z.strictObject({
    type: z.literal('grant'),
    source: id,
    view: z.string(),
    n: z.int(),
    /** The last frame that has been read. Media sends no wake-up while the reader has many frames left to read. */
    read: z.int().optional(),
  }),
])
export type MessageToMedia = z.infer<typeof messageToMedia>

export const sourceState = z.enum(['connecting', 'running', 'reconnecting', 'ended', 'failed'])
export type SourceState = z.infer<typeof sourceState>

/** Status of a source. `reason` says what is wrong and what to do. */
export const sourceStatus = z.strictObject({
  id,
  state: sourceState,
  reason: z.string().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  fps: z.number().optional(),
  codec: z.string().optional(),
  decoder: z.string().optional(),
  /** Consecutive failed attempts to connect, while the source is lost. */
  attempts: z.int().optional(),
  /** Time of the next attempt to connect. */
  next_try_at: z.iso.datetime().optional(),
  /** The clock that provides the capture time, if the source is a camera. */
  clock: cameraClock.optional(),
  /** Share of lost packets, 0 to 1. Absent if negligible. */
  loss: z.number().optional(),
})
export type SourceStatus = z.infer<typeof sourceStatus>

export const messageFromMedia = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    epoch: z.int(),
    gstreamer: z.string(),
    hostname: z.string(),
    port: z.int(),
  }),
  z.strictObject({ type: z.literal('applied'), revision: z.int() }),
  z.strictObject({ type: z.literal('source'), status: sourceStatus }),
  /** The ring of a view can be opened, or must be reopened because its layout has changed. */
  z.strictObject({
    type: z.literal('view'),
    source: id,
    view: z.string(),
    path: z.string(),
    generation: z.int(),
  }),
  z.strictObject({ type: z.literal('view-failed'), source: id, view: z.string(), reason: z.string() }),
  /**
   * Measured cost of a decoded source over the last seconds. `fps`: decoded frames per second, before the source's rate
   * limit. `decode_ms`: CPU time per decoded frame. `scale_ms`: CPU time per frame of one view, absent without views.
   */
  z.strictObject({
    type: z.literal('cost'),
    source: id,
    fps: z.number().positive(),
    decode_ms: z.number().min(0),
    scale_ms: z.number().min(0).optional(),
  }),
  /**
   * Results of another engine that were received with a ZeroMQ message. They are sent before the frame with the same
   * `pts`, which may never follow. `time`: µs since 1970.
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
  /** Why an annotated stream is unavailable. Without a reason, it is available again. */
  z.strictObject({ type: z.literal('stream'), stream: hostedStreamName, reason: z.string().optional() }),
  /** A wake-up; the header of the ring is authoritative. `time`: µs since 1970. */
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
