import type { PipelineElement } from '@eyrie/contract'
import type { PipelineSettings, SourceSettings } from '../../db/schema/index.ts'
import { mapSourceKeys } from '../../inventory/source-keys.ts'
import { type SourceFields, type StoredSource, toSourceFields } from './source-fields.ts'

/**
 * The sources, pipelines and channels of an engine as stored in the database. A channel connects a source to a
 * pipeline. The functions below translate them into the objects that the engine should have.
 */
export interface StoredConfiguration {
  sources: (StoredSource & { source_id: string; source_name: string; source_settings: SourceSettings })[]
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

/** The fields of a pipeline on the engine. */
export interface PipelineFields {
  elements: PipelineElement[]
  usecase: string
  /** Ids of the connected sources on the engine. */
  sources: number[]
}

/** A stored source or pipeline, with the fields that its object on the engine should have. */
export interface DesiredRecord<Fields> {
  record_id: string
  name: string
  fields: Fields
}

export interface DesiredSources {
  desired: DesiredRecord<SourceFields>[]
  /** Sources that cannot be created on the engine because they have no address. */
  withoutAddress: { record_id: string; name: string }[]
}

/** Translates the stored sources into the fields of sources on the engine. */
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
 * Translates the stored pipelines into the fields of pipelines on the engine. `findSid` returns the id of a source on the
 * engine. Sources that do not exist there yet are omitted: they are connected in a later reconciliation.
 */
export function toDesiredPipelines(
  { pipelines, channels }: StoredConfiguration,
  findSid: (sourceId: string) => number | undefined,
): DesiredRecord<PipelineFields>[] {
  const channelsByPipeline = Map.groupBy(channels, ({ pipeline_id }) => pipeline_id)
  return pipelines.map(
    ({
      pipeline_id: pipelineId,
      pipeline_name: pipelineName,
      pipeline_usecase: pipelineUsecase,
      pipeline_elements: pipelineElements,
    }) => {
      const connectedChannels = channelsByPipeline.get(pipelineId) ?? []
      const sids = connectedChannels.flatMap(({ source_id }) => findSid(source_id) ?? [])
      return {
        record_id: pipelineId,
        name: pipelineName,
        fields: {
          elements: mapSourceKeys(pipelineElements.elements, findSid),
          usecase: pipelineUsecase,
          sources: sids.sort((a, b) => a - b),
        },
      }
    },
  )
}
