import type { PipelineElement } from '@eyrie/contract'
import { mapSourceKeys } from '../../inventory/source-keys.ts'
import { type SourceFields, type StoredSource, toSourceFields } from './source-fields.ts'

/** The stored sources, pipelines and channels of an engine. */
export interface StoredState {
  sources: (StoredSource & { source_id: string; source_name: string })[]
  pipelines: {
    pipeline_id: string
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
  /** Ids on the engine. */
  sources: number[]
}

/** A stored record with the fields that its object on the engine must have. */
export interface DesiredRecord<Fields> {
  record_id: string
  name: string
  fields: Fields
}

export interface DesiredSources {
  desired: DesiredRecord<SourceFields>[]
  /** Sources that cannot be created until they have an address. */
  withoutAddress: { record_id: string; name: string }[]
}

export function toDesiredSources({ sources }: StoredState): DesiredSources {
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
 * Translates the stored pipelines into the engine's ids (sids). A source without a sid is left out: it is connected once
 * it exists on the engine.
 */
export function toDesiredPipelines(
  { pipelines, channels }: StoredState,
  findSid: (source_id: string) => number | undefined,
): DesiredRecord<PipelineFields>[] {
  const channelsByPipeline = Map.groupBy(channels, ({ pipeline_id }) => pipeline_id)
  return pipelines.map(({ pipeline_id, pipeline_name, pipeline_usecase, pipeline_elements }) => {
    const connected = channelsByPipeline.get(pipeline_id) ?? []
    return {
      record_id: pipeline_id,
      name: pipeline_name,
      fields: {
        elements: mapSourceKeys(pipeline_elements.elements, findSid),
        usecase: pipeline_usecase,
        sources: connected.flatMap(({ source_id }) => findSid(source_id) ?? []).sort((a, b) => a - b),
      },
    }
  })
}
