import { z } from 'zod'
import { id, idList } from './ids.ts'

/**
 * `file`: writes JSON Lines. `video`: records MP4 with a metadata track. `hosted_video`: serves the annotated video as a
 * stream. `embedding`: stores the embeddings of objects. `zmq`: publishes ZeroMQ messages. `zmqinternal`: publishes
 * messages to other pipelines of the engine. `inf`: counts messages and discards them.
 */
export const sinkType = z.enum(['file', 'video', 'hosted_video', 'embedding', 'zmq', 'zmqinternal', 'inf'])
export type SinkType = z.infer<typeof sinkType>

const address = z
  .url({
    error: ({ code }) =>
      code === 'invalid_format' ? 'must be a URL such as file:///output/results.jsonl' : undefined,
  })
  .max(4096)

const fields = { type: sinkType, address }

const filter = idList.meta({ description: 'Ids of the sources to include; an empty list includes all' })

export const sinkInput = z.strictObject({ ...fields, filter: filter.default([]) }).meta({ id: 'SinkInput' })
export type SinkInput = z.infer<typeof sinkInput>

export const sinkPatch = z
  .strictObject({ ...fields, filter: filter.nullable() })
  .partial()
  .meta({ id: 'SinkPatch' })

export const sink = z.strictObject({ id, ...fields, filter }).meta({ id: 'Sink' })
export type Sink = z.infer<typeof sink>
