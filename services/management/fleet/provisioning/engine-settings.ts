import { isDeepStrictEqual } from 'node:util'
import type { Pipeline, Source } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { type PipelineSettings, pipeline, type SourceSettings, source } from '../../db/schema/index.ts'
import type { ProvisionedObject } from './reconcile-plan.ts'

// Sources and pipelines have settings that management does not control, such as the recording. They are stored as last found, so
// that an object that is created again, here or on another engine, receives them.

const DEFAULT_DECODER: Source['decoder'] = 'gst_h264'
const DEFAULT_PRIORITY = 5

export interface EngineSettingsInput {
  engine_id: string
  database: Database
  stored: {
    sources: readonly { source_id: string; source_settings: SourceSettings }[]
    pipelines: readonly { pipeline_id: string; engine_id: string; pipeline_settings: PipelineSettings }[]
  }
  provisioned: Record<'sources' | 'pipelines', readonly ProvisionedObject<unknown>[]>
  actual: { sources: readonly Source[]; pipelines: readonly Pick<Pipeline, 'id' | 'priority'>[] }
}

/** Stores the settings that have changed on an engine. A pipeline has those of the engine that it was created for. */
export async function storeEngineSettings(input: EngineSettingsInput): Promise<void> {
  const { engine_id, database, stored, provisioned, actual } = input
  const found = <Actual extends { id: number }>(
    objects: readonly Actual[],
    provisions: readonly ProvisionedObject<unknown>[],
    record_id: string,
  ) => {
    const sid = provisions.find(provision => provision.record_id === record_id)?.sid
    return objects.find(({ id }) => id === sid)
  }

  const sources = stored.sources.flatMap(({ source_id, source_settings }) => {
    const object = found(actual.sources, provisioned.sources, source_id)
    const settings = object && toSourceSettings(object)
    return settings && !isDeepStrictEqual(settings, source_settings) ? { source_id, settings } : []
  })
  const pipelines = stored.pipelines
    .filter(row => row.engine_id === engine_id)
    .flatMap(({ pipeline_id, pipeline_settings }) => {
      const object = found(actual.pipelines, provisioned.pipelines, pipeline_id)
      const settings = object && toPipelineSettings(object)
      return settings && !isDeepStrictEqual(settings, pipeline_settings) ? { pipeline_id, settings } : []
    })
  if (sources.length + pipelines.length === 0) return

  await database.system('provision an engine', async tx => {
    for (const { source_id, settings } of sources)
      await tx.update(source).set({ source_settings: settings }).where(eq(source.source_id, source_id))
    for (const { pipeline_id, settings } of pipelines)
      await tx
        .update(pipeline)
        .set({ pipeline_settings: settings })
        .where(eq(pipeline.pipeline_id, pipeline_id))
  })
}

const toSourceSettings = ({ decoder, recording }: Source): SourceSettings => ({
  ...(decoder !== DEFAULT_DECODER && { decoder }),
  ...(recording && { recording }),
})

const toPipelineSettings = ({ priority }: Pick<Pipeline, 'priority'>): PipelineSettings =>
  priority === DEFAULT_PRIORITY ? {} : { priority }
