import type { PipelineElement } from '@eyrie/contract'
import type { PipelineSettings, SourceSettings } from '../../db/schema/index.ts'
import { mapSourceKeys } from '../../inventory/source-keys.ts'
import { type SourceFields, type StoredSource, toSourceFields } from './source-fields.ts'

// Translates what is stored about an engine into the sources and pipelines that the engine should
// have. Channels are not created on the engine: a channel exists there when its source is
// connected to its pipeline.

/**
 * The sources, pipelines and channels of an engine as stored in the database. A channel connects a
 * source to a pipeline.
 */
export interface StoredConfiguration {
  sources: (StoredSource & {
    source_id: string
    source_name: string
    source_settings: SourceSettings
  })[]
  pipelines: {
    pipeline_id: string
    engine_id: string
    pipeline_settings: PipelineSettings
    pipeline_name: string
    pipeline_usecase: string
    pipeline_elements: { elements: PipelineElement[] }
  }[]
  channels: { channel_id: string; source_id: string; pipeline_id: string }[]
}

/** A stored source or pipeline as it should be on the engine. */
export interface DesiredRecord<Fields> {
  record_id: string
  name: string
  fields: Fields
}

/** The fields of a pipeline on the engine. */
export interface PipelineFields {
  elements: PipelineElement[]
  usecase: string
  /** The connected sources, by the ids that the engine has assigned to them (`sid`). */
  sources: number[]
}

export interface DesiredSources {
  desired: DesiredRecord<SourceFields>[]
  /** Sources that cannot be created on the engine because they have no address. */
  withoutAddress: { record_id: string; name: string }[]
}

/** Returns the sources that the engine should have. */
export function toDesiredSources({ sources }: StoredConfiguration): DesiredSources {
  const desired: DesiredSources['desired'] = []
  const withoutAddress: DesiredSources['withoutAddress'] = []
  for (const source of sources) {
    const record = { record_id: source.source_id, name: source.source_name }
    const fields = toSourceFields(source)
    if (fields) desired.push({ ...record, fields })
    else withoutAddress.push(record)
  }
  return { desired, withoutAddress }
}

/**
 * Returns the pipelines that the engine should have. `findSid` returns the id of a source on the
 * engine. Sources that do not exist there yet are omitted: a later reconciliation connects them.
 */
export function toDesiredPipelines(
  { pipelines, channels }: StoredConfiguration,
  findSid: (sourceId: string) => number | undefined,
): DesiredRecord<PipelineFields>[] {
  const channelsByPipeline = Map.groupBy(channels, ({ pipeline_id }) => pipeline_id)
  return pipelines.map(pipeline => {
    const connectedChannels = channelsByPipeline.get(pipeline.pipeline_id) ?? []
    const sids = connectedChannels.flatMap(({ source_id }) => findSid(source_id) ?? [])
    return {
      record_id: pipeline.pipeline_id,
      name: pipeline.pipeline_name,
      fields: {
        elements: mapSourceKeys(pipeline.pipeline_elements.elements, findSid),
        usecase: pipeline.pipeline_usecase,
        sources: sids.sort((a, b) => a - b),
      },
    }
  })
}
