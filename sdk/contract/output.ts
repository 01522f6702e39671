import { z } from 'zod'
import { id } from './ids.ts'
import { counters, detectedObject, eventData } from './object.ts'
import { idParameter, listParameter } from './parameters.ts'

/** Kinds of messages on the output WebSocket. Durable messages are written to the log before they are sent. */
export const messageKind = z.enum(['frame', 'event', 'count', 'stats', 'state', 'picture'])
export type MessageKind = z.infer<typeof messageKind>
export const durableKinds: ReadonlySet<MessageKind> = new Set(['event', 'count', 'state', 'picture'])

const envelope = {
  seq: z.int().min(1).meta({ description: 'Sequence number, unique for this engine' }),
  channel: id.nullable(),
  source: id.nullable(),
  pipeline: id.nullable(),
  pts: z.int().nullable().meta({ description: 'Stream time in ticks of 90 kHz' }),
  epoch: z.int().nullable().meta({ description: 'Changes when media restarts and pts starts anew' }),
  time: z.iso.datetime({ precision: undefined }),
}

export const frameData = z.strictObject({
  n: z.int().min(1),
  objects: z.array(detectedObject),
  counters,
  latency: z.number().meta({ description: 'Milliseconds from decoded frame to output' }),
})
export type FrameData = z.infer<typeof frameData>

export const stateData = z.looseObject({
  state: z.string(),
  reason: z.string().optional(),
  lost: z
    .literal(true)
    .optional()
    .meta({ description: 'The channel receives no frames because its source or media is disconnected' }),
})
export type StateData = z.infer<typeof stateData>

export const statsData = z.strictObject({
  fps: z.number().meta({ description: 'Analysed frames per second over the last 10 s' }),
  latency: z.number().meta({ description: 'Median in ms from decoded frame to output over the last 10 s' }),
  latency_p95: z.number().meta({ description: '95th percentile of the same latency' }),
  dropped: z.int().meta({ description: 'Frames dropped since the channel started' }),
  dropped_for: z.strictObject({
    lacking: z.int().meta({ description: 'Frames dropped for lack of capacity' }),
    failed: z.int().meta({ description: 'Frames dropped because an element had failed' }),
  }),
})

/** The picture of earlier events with the same channel, epoch and `pts`, which were sent before it was ready. */
export const pictureData = z.strictObject({
  picture: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .meta({ description: 'SHA-256 of the picture' }),
})
export type PictureData = z.infer<typeof pictureData>

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

/** First message of a connection. The log contains the durable messages between `oldest` and `newest`. */
export const hello = z.strictObject({
  kind: z.literal('hello'),
  log_id: z.string(),
  oldest: z.int(),
  newest: z.int(),
})
export type Hello = z.infer<typeof hello>

/** The requested durable messages `from`..`to` are no longer in the log. */
export const gap = z.strictObject({ kind: z.literal('gap'), from: z.int(), to: z.int() })
export type Gap = z.infer<typeof gap>

/** Sent by a consumer: it has processed all messages up to and including this sequence number. */
export const acknowledgement = z.strictObject({ ack: z.int().min(0) })
export type Acknowledgement = z.infer<typeof acknowledgement>

/** Name of a consumer. It starts with a letter or digit, because it is part of paths. */
export const consumerName = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,63}$/,
    'must start with a letter or digit and have at most 64 letters, digits, ".", "_" and "-"',
  )

/** A named follower of the output. The log retains messages that it has not acknowledged while there is space. */
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
 * Query of the output WebSocket. `since`: replays durable messages from this sequence number before live messages.
 * `consumer`: follows as a named consumer; without `since`, its unacknowledged messages are replayed.
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
