import { z } from 'zod'
import { messageKind } from './output.ts'
import { idParameter, listParameter } from './parameters.ts'

/**
 * Connections to the output of the engine, the WebSocket `/output`: which messages a client
 * requests, and the messages about the connection itself. A client with a name is a consumer, for
 * which the engine retains messages.
 */

/** Name of a consumer. The first character is not a dot, because the name is part of paths. */
export const consumerName = z
  .string()
  .regex(
    /^[A-Za-z0-9][\w.-]{0,63}$/,
    'must start with a letter or digit and have at most 64 letters, digits, ".", "_" and "-"',
  )

/**
 * A named client of the output. The output log retains messages until the consumer acknowledges
 * them, unless it runs out of space.
 */
export const consumer = z
  .strictObject({
    name: consumerName,
    acknowledged: z
      .int()
      .min(0)
      .meta({ description: 'Sequence number of the last acknowledged message' }),
    connected: z.boolean(),
    seen: z.iso.datetime().meta({ description: 'Time of the last connection or acknowledgement' }),
    held: z.number().min(0).max(1).meta({
      description: 'Share of the output log that is retained for this consumer, from 0 to 1',
    }),
  })
  .meta({ id: 'Consumer' })
export type Consumer = z.infer<typeof consumer>

/** The query with which a client opens a connection. */
export const outputQuery = z.object({
  channels: listParameter(idParameter)
    .optional()
    .meta({ description: 'Ids of the channels whose messages are sent; all by default' }),
  kinds: listParameter(messageKind)
    .optional()
    .meta({ description: 'Kinds of the messages that are sent; all by default' }),
  since: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a sequence number')
    .transform(Number)
    .optional()
    .meta({
      type: 'integer',
      minimum: 0,
      description:
        'Sequence number of the first durable message to send before live messages. By default, a consumer receives all durable messages that it has not acknowledged, and other clients receive only live messages',
    }),
  consumer: consumerName
    .optional()
    .meta({ description: 'Name of the client, if it is a consumer' }),
})
export type OutputQuery = z.infer<typeof outputQuery>

/**
 * First message of a connection. The output log contains the durable messages from
 * `oldest` to `newest`.
 */
export const hello = z.strictObject({
  kind: z.literal('hello'),
  log_id: z
    .string()
    .meta({ description: 'Identifies the log; sequence numbers of another log start anew' }),
  oldest: z.int(),
  newest: z.int(),
})
export type Hello = z.infer<typeof hello>

/**
 * Reports that requested durable messages, from number `from` to number `to`, are no
 * longer in the output log.
 */
export const gap = z.strictObject({ kind: z.literal('gap'), from: z.int(), to: z.int() })
export type Gap = z.infer<typeof gap>

/**
 * A message from a consumer: all messages up to and including this sequence number
 * have been processed.
 */
export const acknowledgement = z.strictObject({ ack: z.int().min(0) })
export type Acknowledgement = z.infer<typeof acknowledgement>
