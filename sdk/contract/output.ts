import { z } from 'zod'
import { id } from './ids.ts'
import { counters, detectedObject, eventData } from './object.ts'
import { idParameter, listParameter } from './parameters.ts'

/** Kinds of messages on the output WebSocket; the durable ones are in the log before they are sent. */
export const messageKind = z.enum(['frame', 'event', 'count', 'stats', 'state', 'picture'])
export type MessageKind = z.infer<typeof messageKind>
export const durableKinds: ReadonlySet<MessageKind> = new Set(['event', 'count', 'state', 'picture'])

const envelope = {
  seq: z.int().min(1),
  channel: id.nullable(),
  source: id.nullable(),
  pipeline: id.nullable(),
  pts: z.int().nullable().meta({ description: '90 kHz ticks of stream time' }),
  epoch: z.int().nullable().meta({ description: 'Changes when media restarts' }),
  time: z.iso.datetime({ precision: undefined }),
}

export const frameData = z.strictObject({
  n: z.int().min(1),
  objects: z.array(detectedObject),
  counters,
  latency: z.number().meta({ description: 'ms from decoded frame to output' }),
})
export type FrameData = z.infer<typeof frameData>

/** `lost`: nothing of the channel's source comes, since the source or media is away. */
export const stateData = z.looseObject({
  state: z.string(),
  reason: z.string().optional(),
  lost: z.literal(true).optional(),
})
export type StateData = z.infer<typeof stateData>

/** `latency` and `latency_p95`: ms from decoded frame to output, with `fps` over ten seconds; `dropped` since the channel began. */
export const statsData = z.strictObject({
  fps: z.number(),
  latency: z.number(),
  latency_p95: z.number(),
  dropped: z.int(),
  /** `lacking`: for want of capacity; `failed`: because an element had failed. */
  dropped_for: z.strictObject({ lacking: z.int(), failed: z.int() }),
})

/** The picture of the events of this channel, epoch and `pts` that went out before it was ready. */
export const pictureData = z.strictObject({ picture: z.string().regex(/^[0-9a-f]{64}$/) })
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

/** First message of a connection: which log this is and between which numbers it holds durable messages. */
export const hello = z.strictObject({
  kind: z.literal('hello'),
  log_id: z.string(),
  oldest: z.int(),
  newest: z.int(),
})
export type Hello = z.infer<typeof hello>

/** Durable messages `from`..`to` were asked for and are no longer kept. */
export const gap = z.strictObject({ kind: z.literal('gap'), from: z.int(), to: z.int() })
export type Gap = z.infer<typeof gap>

/** What a consumer sends: it has every message up to this number and needs it no longer. */
export const acknowledgement = z.strictObject({ ack: z.int().min(0) })
export type Acknowledgement = z.infer<typeof acknowledgement>

/** Of a consumer of the output: it begins with a letter or digit, and stands in paths. */
export const consumerName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'a consumer is named by up to 64 letters, digits, _ . and -')

/** A follower of the output that is known by its name: what it has not acknowledged is kept while there is room. */
export const consumer = z
  .strictObject({
    name: consumerName,
    acknowledged: z.int().min(0).meta({ description: 'The last message that it needs no longer' }),
    connected: z.boolean(),
    seen: z.iso.datetime().meta({ description: 'When it was last connected, or acknowledged something' }),
    held: z.number().min(0).max(1).meta({ description: 'Share of the output log that waits for it' }),
  })
  .meta({ id: 'Consumer' })
export type Consumer = z.infer<typeof consumer>

/**
 * Query of the output WebSocket. `since`: durable messages from this number on are replayed first. `consumer`: what it
 * has not acknowledged is kept while there is room, and replayed where there is no `since`.
 */
export const outputQuery = z.object({
  channels: listParameter(idParameter).optional(),
  kinds: listParameter(messageKind).optional(),
  since: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the number of a message')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 0 }),
  consumer: consumerName.optional(),
})
export type OutputQuery = z.infer<typeof outputQuery>
