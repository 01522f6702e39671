import { id, idList, pipeline, sink, source } from '@eyrie/contract'
import { z } from 'zod'

const content = z.strictObject({
  version: z.literal(1),
  /** Key of the entity tags, so that the tags of two engines differ. */
  tagKey: z.string().min(1),
  /** The next id of each kind. Ids are never reused. */
  next: z.strictObject({ source: id, sink: id, pipeline: id, channel: id }),
  sources: z.array(source),
  sinks: z.array(sink),
  pipelines: z.array(pipeline),
  /** Every pair of source and pipeline that has ever been connected, until one of them is deleted. */
  channels: z.array(z.strictObject({ id, source: id, pipeline: id })),
  /** Sources of type `file` that have been played to the end. */
  ended: idList,
})

/** The content of the configuration file. It includes secrets, so the API must not return it unchanged. */
export type ConfigurationState = z.infer<typeof content>

export const configurationState = content.refine(isConsistent, {
  error: 'contains duplicate ids, ids that were never assigned or references to missing objects',
})

export function emptyState(tagKey: string): ConfigurationState {
  const next = { source: 1, sink: 1, pipeline: 1, channel: 1 }
  return { version: 1, tagKey, next, sources: [], sinks: [], pipelines: [], channels: [], ended: [] }
}

function isConsistent({ next, sources, sinks, pipelines, channels }: ConfigurationState): boolean {
  const sourceIds = toIdSet(sources)
  const sinkIds = toIdSet(sinks)
  const pipelineIds = toIdSet(pipelines)
  return (
    hasValidIds(sources, next.source) &&
    hasValidIds(sinks, next.sink) &&
    hasValidIds(pipelines, next.pipeline) &&
    hasValidIds(channels, next.channel) &&
    pipelines.every(
      pipeline =>
        pipeline.sources.every(id => sourceIds.has(id)) && pipeline.sinks.every(id => sinkIds.has(id)),
    ) &&
    channels.every(({ source, pipeline }) => sourceIds.has(source) && pipelineIds.has(pipeline))
  )
}

const toIdSet = (items: { id: number }[]) => new Set(items.map(item => item.id))

/** Whether all ids are unique and less than the next free id. */
function hasValidIds(items: { id: number }[], nextId: number): boolean {
  return toIdSet(items).size === items.length && items.every(item => item.id < nextId)
}
