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
 * The control connection: one WebSocket, opened by the engine at media's `/internal/control`. The engine sends the
 * whole state that it wants; media changes only what differs. The connection is the lease: when it has been gone for
 * ten seconds the views are removed. Sources go on, so that live views survive an engine's restart.
 */
export const controlPath = '/internal/control'

/** `realtime`: live views drop; `all`: every frame waits until its reader has granted it. */
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
  /** By the key that notices about the view carry. */
  views: z.record(z.string(), viewSpec),
})
export type DesiredSource = z.infer<typeof desiredSource>

/** What an annotated stream is called: a name without `--`, behind which a further channel's id may stand. */
export const hostedStreamName = z
  .string()
  .regex(/^(?=.{1,64}(--|$))[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*(--\d{1,10})?$/)

/** A stream of a source's analysed frames with what was found in them drawn in: `/streams/{name}`. */
export const hostedStream = z.strictObject({ name: hostedStreamName, source: id })
export type HostedStream = z.infer<typeof hostedStream>

/** What is drawn into one frame. `colour` names a colour: equal names have the same one. */
export const drawing = z.strictObject({
  objects: z.array(z.strictObject({ bbox, label: z.string(), colour: z.string() })),
  shapes: z.array(shape),
})
export type Drawing = z.infer<typeof drawing>

/** What a channel has found in a frame of a source that is recorded; it is kept beside the pictures. */
export const resultToRecord = z.strictObject({
  source: id,
  channel: id,
  pts: z.int(),
  objects: z.array(detectedObject),
  counters,
  /** Lines and zones of the channel; told once a second, as they seldom change. */
  shapes: z.array(shape).optional(),
})
export type ResultToRecord = z.infer<typeof resultToRecord>

/** What has happened at a frame of a source that is recorded. `time` is when the picture was taken. */
export const eventToRecord = z.strictObject({
  source: id,
  channel: id,
  pts: z.int(),
  time: z.iso.datetime(),
  data: eventData,
})
export type EventToRecord = z.infer<typeof eventToRecord>

/** Body of `POST /streams/{id}/snapshot.jpg`: a picture in which media hides and draws what it is told. */
export const snapshotRequest = z.strictObject({
  pts: z.int().min(0).optional(),
  width: z.int().min(16).max(8192).optional(),
  /** Regions that are made unrecognisable. */
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
  /** Frame n of the stream's source is to be shown with this drawing; sent only while the stream is watched. */
  z.strictObject({ type: z.literal('draw'), stream: hostedStreamName, n: z.int(), drawing }),
  eventToRecord.extend({ type: z.literal('event') }),
  resultToRecord.extend({ type: z.literal('result') }),
  /** With pacing `all`: frames up to n may be written. */
  z.strictObject({
    type: z.literal('grant'),
    source: id,
    view: z.string(),
    n: z.int(),
    /** Those up to this one have been read: who says so is not woken while there is plenty left to read. */
    read: z.int().optional(),
  }),
])
export type MessageToMedia = z.infer<typeof messageToMedia>

export const sourceState = z.enum(['connecting', 'running', 'reconnecting', 'ended', 'failed'])
export type SourceState = z.infer<typeof sourceState>

/** What media knows of a source; `reason` says what is wrong and what to do. */
export const sourceStatus = z.strictObject({
  id,
  state: sourceState,
  reason: z.string().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  fps: z.number().optional(),
  codec: z.string().optional(),
  decoder: z.string().optional(),
  /** Of a source that is lost: how often in a row it was tried in vain, and when it is tried again. */
  attempts: z.int().optional(),
  next_try_at: z.iso.datetime().optional(),
  /** Of a camera: by whose clock `time` is told. */
  clock: cameraClock.optional(),
  /** Share of the packets that are lost, 0 to 1, where that is worth telling. */
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
  /** A view's ring can be opened, or must be opened again because its shape changed. */
  z.strictObject({
    type: z.literal('view'),
    source: id,
    view: z.string(),
    path: z.string(),
    generation: z.int(),
  }),
  z.strictObject({ type: z.literal('view-failed'), source: id, view: z.string(), reason: z.string() }),
  /**
   * What a source has cost over the last seconds in which it was decoded. `fps` are frames as they came, before the
   * source's rate; `decode_ms` is CPU time a frame of these, `scale_ms` a frame of one view (absent if none was made).
   */
  z.strictObject({
    type: z.literal('cost'),
    source: id,
    fps: z.number().positive(),
    decode_ms: z.number().min(0),
    scale_ms: z.number().min(0).optional(),
  }),
  /**
   * What the engine that a message came from had found in the frame of this `pts`; it goes ahead of the frame, and
   * there may be no frame to it. `time` is µs since 1970.
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
  /** Whether anybody watches an annotated stream. */
  z.strictObject({ type: z.literal('watched'), stream: hostedStreamName, watched: z.boolean() }),
  /** Why nobody can watch an annotated stream; without a reason: it can be watched again. */
  z.strictObject({ type: z.literal('stream'), stream: hostedStreamName, reason: z.string().optional() }),
  /** Only a wake-up: the ring's header says what is there. `time` is µs since 1970. */
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
