import { id, idList, pipeline, sink, source } from '@eyrie/contract'
import { z } from 'zod'

/**
 * The content of the configuration file: the sources, sinks and pipelines of the
 * engine, and the ids in use.
 */
const content = z.strictObject({
  version: z.literal(2),
  /** Random key of the entity tags: equal configurations of two engines have different tags. */
  tagKey: z.string().min(1),
  /** The next id of each kind. Ids are never reused. */
  next: z.strictObject({ source: id, sink: id, pipeline: id, channel: id }),
  sources: z.array(source),
  sinks: z.array(sink),
  pipelines: z.array(pipeline),
  /**
   * Every pair of source and pipeline that was ever connected. A channel keeps its id until one
   * of the two is deleted.
   */
  channels: z.array(z.strictObject({ id, source: id, pipeline: id })),
  /** Sources of type `file` that have been played to the end. */
  ended: idList,
})

/**
 * The stored configuration of the engine. Its secrets are readable here, and encrypted in the
 * file.
 */
export type ConfigurationState = z.infer<typeof content>

export const configurationState = content.refine(isConsistent, {
  error: 'contains duplicate ids, unassigned ids or references to missing objects',
})

export function emptyState(tagKey: string): ConfigurationState {
  const next = { source: 1, sink: 1, pipeline: 1, channel: 1 }
  return {
    version: 2,
    tagKey,
    next,
    sources: [],
    sinks: [],
    pipelines: [],
    channels: [],
    ended: [],
  }
}

function isConsistent({ next, sources, sinks, pipelines, channels }: ConfigurationState): boolean {
  const areIdsValid =
    hasValidIds(sources, next.source) &&
    hasValidIds(sinks, next.sink) &&
    hasValidIds(pipelines, next.pipeline) &&
    hasValidIds(channels, next.channel)

  const sourceIds = toIdSet(sources)
  const sinkIds = toIdSet(sinks)
  const pipelineIds = toIdSet(pipelines)
  const arePipelinesConsistent = pipelines.every(
    pipeline =>
      pipeline.sources.every(id => sourceIds.has(id)) &&
      pipeline.sinks.every(id => sinkIds.has(id)),
  )
  const areChannelsConsistent = channels.every(
    ({ source, pipeline }) => sourceIds.has(source) && pipelineIds.has(pipeline),
  )
  return areIdsValid && arePipelinesConsistent && areChannelsConsistent
}

const toIdSet = (entities: { id: number }[]) => new Set(entities.map(({ id }) => id))

/** Whether all ids are unique and lower than the next free id. */
function hasValidIds(entities: { id: number }[], nextId: number): boolean {
  return toIdSet(entities).size === entities.length && entities.every(({ id }) => id < nextId)
}
