import type { PipelineElement } from '@eyrie/contract'
import { renameSources } from '../../inventory/source-keys.ts'
import { type SourceFields, type StoredPlace, sourceFields } from './source-address.ts'

/** What is stored of an engine's sources, pipelines and channels. */
export interface Stored {
  sources: (StoredPlace & { source_id: string; source_name: string })[]
  pipelines: {
    pipeline_id: string
    pipeline_name: string
    pipeline_usecase: string
    pipeline_elements: { elements: PipelineElement[] }
  }[]
  channels: { channel_id: string; source_id: string; pipeline_id: string }[]
}

export interface PipelineFields {
  elements: PipelineElement[]
  usecase: string
  /** Ids on the engine. */
  sources: number[]
}

/** A record as the engine shall have it. */
export interface Wanted<Fields> {
  record_id: string
  name: string
  fields: Fields
}

/** The sources that the engine shall have, and those that have no address. */
export function wantedSources({ sources }: Stored) {
  const withFields = sources.map(source => ({
    record_id: source.source_id,
    name: source.source_name,
    fields: sourceFields(source),
  }))
  return {
    wanted: withFields.filter((source): source is Wanted<SourceFields> => source.fields !== undefined),
    lacking: withFields.filter(({ fields }) => fields === undefined),
  }
}

/** The pipelines that the engine shall have, in its own ids. A source that it does not have is connected once it has it. */
export function wantedPipelines(
  { pipelines, channels }: Stored,
  sidOf: (source_id: string) => number | undefined,
): Wanted<PipelineFields>[] {
  const connected = Map.groupBy(channels, ({ pipeline_id }) => pipeline_id)
  return pipelines.map(({ pipeline_id, pipeline_name, pipeline_usecase, pipeline_elements }) => ({
    record_id: pipeline_id,
    name: pipeline_name,
    fields: {
      elements: renameSources(pipeline_elements.elements, sidOf),
      usecase: pipeline_usecase,
      sources: (connected.get(pipeline_id) ?? [])
        .flatMap(({ source_id }) => sidOf(source_id) ?? [])
        .sort((a, b) => a - b),
    },
  }))
}
