import { z } from 'zod'
import { id } from './ids.ts'
import { counters, detectedObject, eventData, pictureOffset } from './object.ts'

/**
 * The output of the engine: the results of all channels as messages on a WebSocket. Durable
 * messages are written to the output log before they are sent, so that a client can request
 * messages that it has missed.
 */

/**
 * The kind of a message:
 * - `frame`: the result for one frame of a channel
 * - `event`: an event that an element has detected
 * - `count`: changed counters
 * - `stats`: statistics of the last seconds
 * - `state`: a changed state of a channel, a pipeline or the output itself
 * - `picture`: the picture of earlier events
 */
export const messageKind = z.enum(['frame', 'event', 'count', 'stats', 'state', 'picture'])
export type MessageKind = z.infer<typeof messageKind>
/** The kinds of durable messages. */
export const DURABLE_KINDS: ReadonlySet<MessageKind> = new Set([
  'event',
  'count',
  'state',
  'picture',
])

/** Fields of every message. */
const envelope = {
  seq: z.int().min(1).meta({ description: 'Sequence number, unique for this engine' }),
  channel: id.nullable().meta({
    description: 'Id of the channel; null if the message is about a whole pipeline or the output',
  }),
  source: id
    .nullable()
    .meta({ description: 'Id of the source of the channel; null without a channel' }),
  pipeline: id
    .nullable()
    .meta({ description: 'Id of the pipeline; null if the message is about the output itself' }),
  pts: z.int().nullable().meta({
    description:
      'Stream time of the frame in ticks of 90 kHz; null if the message is about no frame',
  }),
  epoch: z.int().nullable().meta({
    description: 'Run of the media service, in each of which pts starts anew; null without pts',
  }),
  time: z.iso
    .datetime({ precision: undefined })
    .meta({ description: 'Capture time of the frame, or else when the message was created' }),
}

/** The result for one frame of a channel. */
export const frameData = z.strictObject({
  n: z.int().min(1).meta({ description: 'Number of the frame within its source, from 1' }),
  objects: z.array(detectedObject),
  counters,
  latency: z.number().meta({ description: 'Milliseconds from decoded frame to output' }),
})
export type FrameData = z.infer<typeof frameData>

/** The new state of a channel, a pipeline or the output. */
export const stateData = z.looseObject({
  state: z.string(),
  reason: z.string().optional().meta({ description: 'Why the state is not the normal one' }),
  lost: z.literal(true).optional().meta({
    description:
      'The channel receives no frames because its source or the media service is disconnected',
  }),
})
export type StateData = z.infer<typeof stateData>

/** Statistics of a channel. */
export const statsData = z.strictObject({
  fps: z.number().meta({ description: 'Analysed frames per second over the last 10 s' }),
  latency: z
    .number()
    .meta({ description: 'Median time from decoded frame to output over the last 10 s, in ms' }),
  latency_p95: z
    .number()
    .meta({ description: '95th percentile of the latency over the last 10 s, in ms' }),
  dropped: z.int().meta({ description: 'Frames dropped since the channel started' }),
  dropped_for: z.strictObject({
    lacking: z.int().meta({ description: 'Frames dropped for lack of capacity' }),
    failed: z.int().meta({ description: 'Frames dropped because an element had failed' }),
  }),
})

/**
 * The picture of events that were sent before the picture was ready. The events have the same
 * channel, epoch and `pts` as this message.
 */
export const pictureData = z.strictObject({
  picture: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .meta({ description: 'SHA-256 of the picture' }),
  picture_offset: pictureOffset.optional(),
})
export type PictureData = z.infer<typeof pictureData>

const frameMessage = z.strictObject({
  ...envelope,
  kind: z.literal('frame'),
  data: frameData,
  dropped: z.int().optional().meta({
    description:
      'Frames of the channel that were not sent before this one, because the client was still receiving earlier messages',
  }),
})

/** A message with a result. */
export const outputMessage = z
  .discriminatedUnion('kind', [
    frameMessage,
    z.strictObject({ ...envelope, kind: z.literal('event'), data: eventData }),
    z.strictObject({ ...envelope, kind: z.literal('count'), data: counters }),
    z.strictObject({ ...envelope, kind: z.literal('stats'), data: statsData }),
    z.strictObject({ ...envelope, kind: z.literal('state'), data: stateData }),
    z.strictObject({ ...envelope, kind: z.literal('picture'), data: pictureData }),
  ])
  .meta({ id: 'OutputMessage' })
export type OutputMessage = z.infer<typeof outputMessage>
