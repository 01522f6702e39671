import { z } from 'zod'
import { id } from './ids.ts'
import { counters, detectedObject, eventData, pictureOffset } from './object.ts'
import { idParameter, listParameter } from './parameters.ts'

/**
 * The output of the engine: the results of all channels as messages on a WebSocket. Durable messages are written to the
 * output log before they are sent, so that a client can request messages that it has missed.
 */

/**
 * The kind of a message: the result for one frame, an event, changed counters, statistics of the last seconds, a changed state
 * of a channel, or a picture of earlier events.
 */
export const messageKind = z.enum(['frame', 'event', 'count', 'stats', 'state', 'picture'])
export type MessageKind = z.infer<typeof messageKind>
/** The kinds of durable messages. */
export const DURABLE_KINDS: ReadonlySet<MessageKind> = new Set(['event', 'count', 'state', 'picture'])

/** Fields of every message. */
const envelope = {
  seq: z.int().min(1).meta({ description: 'Sequence number, unique for this engine' }),
  channel: id.nullable(),
  source: id.nullable(),
  pipeline: id.nullable(),
  pts: z.int().nullable().meta({ description: 'Stream time in ticks of 90 kHz' }),
  epoch: z.int().nullable().meta({ description: 'Run of the media service; pts starts anew in each run' }),
  time: z.iso.datetime({ precision: undefined }),
}

/** The result for one frame of a channel. Its field `n` is the number of the frame, from 1. */
export const frameData = z.strictObject({
  n: z.int().min(1),
  objects: z.array(detectedObject),
  counters,
  latency: z.number().meta({ description: 'Milliseconds from decoded frame to output' }),
})
export type FrameData = z.infer<typeof frameData>

/** The new state of a channel. */
export const stateData = z.looseObject({
  state: z.string(),
  reason: z.string().optional(),
  lost: z.literal(true).optional().meta({
    description: 'The channel receives no frames because its source or the media service is disconnected',
  }),
})
export type StateData = z.infer<typeof stateData>

/** Statistics of a channel. */
export const statsData = z.strictObject({
  fps: z.number().meta({ description: 'Analysed frames per second over the last 10 s' }),
  latency: z
    .number()
    .meta({ description: 'Median time from decoded frame to output over the last 10 s, in ms' }),
  latency_p95: z.number().meta({ description: '95th percentile of the latency over the last 10 s, in ms' }),
  dropped: z.int().meta({ description: 'Frames dropped since the channel started' }),
  dropped_for: z.strictObject({
    lacking: z.int().meta({ description: 'Frames dropped for lack of capacity' }),
    failed: z.int().meta({ description: 'Frames dropped because an element had failed' }),
  }),
})

/**
 * The picture of events that were sent before the picture was ready. The events have the same channel, epoch and `pts` as
 * this message.
 */
export const pictureData = z.strictObject({
  picture: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .meta({ description: 'SHA-256 of the picture' }),
  picture_offset: pictureOffset.optional(),
})
export type PictureData = z.infer<typeof pictureData>

/** A message with a result. Messages about the connection, `hello` and `gap`, are defined below. */
export const outputMessage = z
  .discriminatedUnion('kind', [
    z.strictObject({ ...envelope, kind: z.literal('frame'), data: frameData, dropped: z.int().optional() }),
    z.strictObject({ ...envelope, kind: z.literal('event'), data: eventData }),
    z.strictObject({ ...envelope, kind: z.literal('count'), data: counters }),
    z.strictObject({ ...envelope, kind: z.literal('stats'), data: statsData }),
    z.strictObject({ ...envelope, kind: z.literal('state'), data: stateData }),
    z.strictObject({ ...envelope, kind: z.literal('picture'), data: pictureData }),
  ])
  .meta({ id: 'OutputMessage' })
export type OutputMessage = z.infer<typeof outputMessage>

/** First message of a connection. The output log contains the durable messages from `oldest` to `newest`. */
export const hello = z.strictObject({
  kind: z.literal('hello'),
  log_id: z.string(),
  oldest: z.int(),
  newest: z.int(),
})
export type Hello = z.infer<typeof hello>

/** Requested durable messages, from number `from` to number `to`, are no longer in the output log. */
export const gap = z.strictObject({ kind: z.literal('gap'), from: z.int(), to: z.int() })
export type Gap = z.infer<typeof gap>

/** A message from a consumer: all messages up to and including this sequence number have been processed. */
export const acknowledgement = z.strictObject({ ack: z.int().min(0) })
export type Acknowledgement = z.infer<typeof acknowledgement>

/** Name of a consumer. The first character is not a dot, because the name is part of paths. */
export const consumerName = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,63}$/,
    'must start with a letter or digit and have at most 64 letters, digits, ".", "_" and "-"',
  )

/** A named client of the output. While it has space, the output log retains messages until the consumer acknowledges them. */
export const consumer = z
  .strictObject({
    name: consumerName,
    acknowledged: z.int().min(0).meta({ description: 'Sequence number of the last acknowledged message' }),
    connected: z.boolean(),
    seen: z.iso.datetime().meta({ description: 'Time of the last connection or acknowledgement' }),
    held: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Share of the output log that is retained for this consumer' }),
  })
  .meta({ id: 'Consumer' })
export type Consumer = z.infer<typeof consumer>

/**
 * Query of the output WebSocket. With `since`, durable messages from this sequence number on are sent before live messages.
 * `consumer` identifies the client as a consumer; without `since`, the messages that the consumer has not acknowledged are
 * sent first.
 */
export const outputQuery = z.object({
  channels: listParameter(idParameter).optional(),
  kinds: listParameter(messageKind).optional(),
  since: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a sequence number')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 0 }),
  consumer: consumerName.optional(),
})
export type OutputQuery = z.infer<typeof outputQuery>
