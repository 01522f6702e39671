import { z } from 'zod'
import { id } from './ids.ts'
import { point } from './object.ts'

/** Exports: the channels and live streams that an engine offers to its clients. */

/** A live stream, with the ids of the sources that it shows. */
export const stream = z.strictObject({ id, sources: z.array(id) }).meta({ id: 'Stream' })
export type Stream = z.infer<typeof stream>

/** The live stream of a channel, and the address of the media service that serves it. */
export const channelStream = z
  .strictObject({ id, hostname: z.string(), port: z.int().min(0).max(65535) })
  .meta({ id: 'ChannelStream' })

/** A channel: one source that is analysed by one pipeline. */
export const channel = z
  .strictObject({
    id,
    source: id,
    pipeline: id,
    stream: channelStream.nullable().meta({ description: 'Null if the source has no live stream' }),
  })
  .meta({ id: 'Channel' })
export type Channel = z.infer<typeof channel>

/** The channels and streams of an engine. */
export const exportsBody = z
  .strictObject({ streams: z.array(stream), channels: z.array(channel) })
  .partial()
  .meta({ id: 'Exports' })
export type Exports = z.infer<typeof exportsBody>

/** A ticket that grants access to one stream. Pass it to the media service as `?ticket=`. */
export const streamTicket = z
  .strictObject({
    ticket: z.string(),
    expires_in: z.int().meta({ description: 'Seconds until the ticket expires' }),
    stream: channelStream,
  })
  .meta({ id: 'StreamTicket' })
export type StreamTicket = z.infer<typeof streamTicket>

/**
 * Format of the static metadata of a channel: what does not change from frame to frame, such as its
 * lines and zones.
 */
export const staticFormat = z.enum(['pass', 'formatter_a', 'formatter_b']).meta({
  description:
    'pass: as produced; formatter_a: a flat object; formatter_b: a list of shapes to draw',
})
export type StaticFormat = z.infer<typeof staticFormat>

/**
 * A shape in the format `formatter_b`. Its type is `line` (open), `zone` (closed) or one
 * that a plugin defines.
 */
export const shape = z
  .strictObject({ name: z.string(), type: z.string(), points: z.array(point) })
  .meta({ id: 'Shape' })
export type Shape = z.infer<typeof shape>

/** The properties of one channel. Those that were not requested are absent. */
export const channelProperties = z
  .strictObject({
    source: id,
    pipeline: id,
    stream: channelStream.nullable(),
    usecase: z.string(),
    static: z.unknown().meta({ description: 'Static metadata, in the requested format' }),
    fps: z.number().meta({ description: 'Analysed frames per second over the last 10 s' }),
    latency: z.number().meta({
      description: 'Median time from decoded frame to output over the last 10 s, in ms',
    }),
  })
  .partial()
  .meta({ id: 'ChannelProperties' })
export type ChannelProperties = z.infer<typeof channelProperties>

/** The name of a property that a client can request of channels. */
export const channelProperty = channelProperties.keyof()
export type ChannelProperty = z.infer<typeof channelProperty>
