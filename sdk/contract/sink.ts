import { z } from 'zod'
import { id, idList } from './ids.ts'

/**
 * A sink receives the results of pipelines: detected objects, counts and events. Its type
 * determines where they go:
 * - `file`: a file of JSON Lines
 * - `video`: an MP4 file with a metadata track
 * - `hosted_video`: a live stream of the annotated video
 * - `embedding`: a Postgres table with the embeddings of objects
 * - `zmq`: ZeroMQ messages
 * - `zmqinternal`: messages to other pipelines of the same engine
 * - `inf`: nowhere; the results are counted and discarded
 */
export const sinkType = z.enum([
  'file',
  'video',
  'hosted_video',
  'embedding',
  'zmq',
  'zmqinternal',
  'inf',
])
export type SinkType = z.infer<typeof sinkType>

const MAX_ADDRESS_LENGTH = 4096

/** The explanation replaces only the message of zod for a malformed URL. */
const address = z
  .url({
    error: ({ code }) =>
      code === 'invalid_format' ? 'must be a URL such as file:///output/results.jsonl' : undefined,
  })
  .max(MAX_ADDRESS_LENGTH)

const fields = { type: sinkType, address }

const filter = idList.meta({
  description: 'Ids of the sources to include; an empty list includes all',
})

/** Request body that creates or replaces a sink. */
export const sinkInput = z
  .strictObject({ ...fields, filter: filter.default([]) })
  .meta({ id: 'SinkInput' })
export type SinkInput = z.infer<typeof sinkInput>

/** Request body that modifies a sink: a merge patch (RFC 7386), in which null removes a field. */
export const sinkPatch = z
  .strictObject({ ...fields, filter: filter.nullable() })
  .partial()
  .meta({ id: 'SinkPatch' })

/** A sink as the API returns it. */
export const sink = z.strictObject({ id, ...fields, filter }).meta({ id: 'Sink' })
export type Sink = z.infer<typeof sink>
