import { isDeepStrictEqual } from 'node:util'
import type { Pipeline, Source } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { type PipelineSettings, pipeline, type SourceSettings, source } from '../../db/schema/index.ts'
import type { ProvisionedObject } from './reconcile-plan.ts'

/** What the engine's API assumes for omitted fields. Settings with these values are not stored. */
const DEFAULT_DECODER: Source['decoder'] = 'gst_h264'
const DEFAULT_PRIORITY = 5

export interface EngineSettingsInput {
  engine_id: string
  database: Database
  /** The records in the database, with the settings as they were found on the engine before. */
  stored: {
    sources: readonly { source_id: string; source_settings: SourceSettings }[]
    pipelines: readonly { pipeline_id: string; engine_id: string; pipeline_settings: PipelineSettings }[]
  }
  /** Which object on the engine was created for which record. */
  provisioned: Record<'sources' | 'pipelines', readonly ProvisionedObject<unknown>[]>
  /** The objects on the engine. */
  actual: { sources: readonly Source[]; pipelines: readonly Pick<Pipeline, 'id' | 'priority'>[] }
}

/**
 * Copies settings from an engine to the database that management does not control, such as the recording of a source. When an object is
 * created again, on this engine or another one, it gets the stored settings. If a pipeline runs on several engines, those of the engine
 * for which it was created are stored.
 */
export async function storeEngineSettings(input: EngineSettingsInput): Promise<void> {
  const changedSources = findChangedSources(input)
  const changedPipelines = findChangedPipelines(input)
  if (changedSources.length === 0 && changedPipelines.length === 0) return

  await input.database.system('provision an engine', async tx => {
    for (const { source_id: sourceId, source_settings } of changedSources)
      await tx.update(source).set({ source_settings }).where(eq(source.source_id, sourceId))
    for (const { pipeline_id: pipelineId, pipeline_settings } of changedPipelines)
      await tx.update(pipeline).set({ pipeline_settings }).where(eq(pipeline.pipeline_id, pipelineId))
  })
}

/** Returns the sources whose settings on the engine differ from the stored ones, with the new settings. */
function findChangedSources({ stored, provisioned, actual }: EngineSettingsInput) {
  const changed: { source_id: string; source_settings: SourceSettings }[] = []
  for (const { source_id: sourceId, source_settings: storedSettings } of stored.sources) {
    const object = findObject(actual.sources, provisioned.sources, sourceId)
    if (!object) continue
    const sourceSettings = toSourceSettings(object)
    if (!isDeepStrictEqual(sourceSettings, storedSettings))
      changed.push({ source_id: sourceId, source_settings: sourceSettings })
  }
  return changed
}

/** Returns the pipelines whose settings on the engine differ from the stored ones, with the new settings. */
function findChangedPipelines({ engine_id: engineId, stored, provisioned, actual }: EngineSettingsInput) {
  const changed: { pipeline_id: string; pipeline_settings: PipelineSettings }[] = []
  for (const row of stored.pipelines.filter(row => row.engine_id === engineId)) {
    const { pipeline_id: pipelineId } = row
    const object = findObject(actual.pipelines, provisioned.pipelines, pipelineId)
    if (!object) continue
    const pipelineSettings = toPipelineSettings(object)
    if (!isDeepStrictEqual(pipelineSettings, row.pipeline_settings))
      changed.push({ pipeline_id: pipelineId, pipeline_settings: pipelineSettings })
  }
  return changed
}

/** Returns the object that was created on the engine for a record. */
function findObject<Actual extends { id: number }>(
  objects: readonly Actual[],
  provisions: readonly ProvisionedObject<unknown>[],
  recordId: string,
): Actual | undefined {
  const sid = provisions.find(provision => provision.record_id === recordId)?.sid
  return objects.find(({ id }) => id === sid)
}

const toSourceSettings = ({ decoder, recording }: Source): SourceSettings => ({
  ...(decoder !== DEFAULT_DECODER && { decoder }),
  ...(recording && { recording }),
})

const toPipelineSettings = ({ priority }: Pick<Pipeline, 'priority'>): PipelineSettings =>
  priority === DEFAULT_PRIORITY ? {} : { priority }
