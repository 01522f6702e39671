import { id, idList, pipeline, sink, source } from '@eyrie/contract'
import { z } from 'zod'

const content = z.strictObject({
  version: z.literal(1),
  /** Makes the entity tags of this engine unlike any other's. */
  tagKey: z.string().min(1),
  /** The next id of each kind, so that none is ever used twice. */
  next: z.strictObject({ source: id, sink: id, pipeline: id, channel: id }),
  sources: z.array(source),
  sinks: z.array(sink),
  pipelines: z.array(pipeline),
  /** Every pair of source and pipeline that was ever connected, as long as both exist. */
  channels: z.array(z.strictObject({ id, source: id, pipeline: id })),
  /** Sources of type `file` that have played to their end. */
  ended: idList,
})
/** Everything that the configuration file holds: secrets included, so it never leaves the engine as it is. */
export type State = z.infer<typeof content>

export const state = content.refine(isWhole, {
  error: 'ids are used twice, not counted, or refer to nothing',
})

export function emptyState(tagKey: string): State {
  const next = { source: 1, sink: 1, pipeline: 1, channel: 1 }
  return { version: 1, tagKey, next, sources: [], sinks: [], pipelines: [], channels: [], ended: [] }
}

function isWhole({ next, sources, sinks, pipelines, channels }: State): boolean {
  const ids = (list: { id: number }[]) => new Set(list.map(item => item.id))
  const counted = (list: { id: number }[], limit: number) =>
    ids(list).size === list.length && list.every(item => item.id < limit)
  const known = { sources: ids(sources), sinks: ids(sinks), pipelines: ids(pipelines) }
  return (
    counted(sources, next.source) &&
    counted(sinks, next.sink) &&
    counted(pipelines, next.pipeline) &&
    counted(channels, next.channel) &&
    pipelines.every(
      p => p.sources.every(s => known.sources.has(s)) && p.sinks.every(s => known.sinks.has(s)),
    ) &&
    channels.every(c => known.sources.has(c.source) && known.pipelines.has(c.pipeline))
  )
}
