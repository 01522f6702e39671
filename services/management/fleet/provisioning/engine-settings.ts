import { isDeepStrictEqual } from 'node:util'
import type { Pipeline, Source } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import {
  type PipelineSettings,
  pipeline,
  type SourceSettings,
  source,
} from '../../db/schema/index.ts'
import type { ProvisionedObject } from './reconcile-plan.ts'

// The defaults of the engine's API. Settings with these values are not stored.
const DEFAULT_DECODER: Source['decoder'] = 'gst_h264'
const DEFAULT_PRIORITY = 5

export interface EngineSettingsInput {
  engine_id: string
  database: Database
  /** The records in the database, with the settings that were copied from the engine before. */
  stored: {
    sources: readonly { source_id: string; source_settings: SourceSettings }[]
    pipelines: readonly {
      pipeline_id: string
      engine_id: string
      pipeline_settings: PipelineSettings
    }[]
  }
  /** The objects that management has created on the engine, with the ids of their records. */
  provisioned: Record<'sources' | 'pipelines', readonly ProvisionedObject<unknown>[]>
  /** The objects on the engine. */
  actual: { sources: readonly Source[]; pipelines: readonly Pick<Pipeline, 'id' | 'priority'>[] }
}

/**
 * Copies settings from an engine to the database. Management does not control these settings, such
 * as the recording of a source: other clients change them on the engine. When management creates an
 * object again, on this engine or another one, the object gets the stored settings.
 *
 * A pipeline may run on several engines with different settings. Only the settings on its own
 * engine (`engine_id`) are stored.
 */
export async function storeEngineSettings(input: EngineSettingsInput): Promise<void> {
  const { engine_id: engineId, database, stored, provisioned, actual } = input
  const sourceChanges = findChanges(
    stored.sources.map(row => ({ record_id: row.source_id, settings: row.source_settings })),
    provisioned.sources,
    actual.sources,
    toSourceSettings,
  )
  const ownPipelines = stored.pipelines.filter(row => row.engine_id === engineId)
  const pipelineChanges = findChanges(
    ownPipelines.map(row => ({ record_id: row.pipeline_id, settings: row.pipeline_settings })),
    provisioned.pipelines,
    actual.pipelines,
    toPipelineSettings,
  )
  if (sourceChanges.length === 0 && pipelineChanges.length === 0) return

  await database.system('provision an engine', async tx => {
    for (const { record_id: sourceId, settings } of sourceChanges) {
      await tx
        .update(source)
        .set({ source_settings: settings })
        .where(eq(source.source_id, sourceId))
    }
    for (const { record_id: pipelineId, settings } of pipelineChanges) {
      await tx
        .update(pipeline)
        .set({ pipeline_settings: settings })
        .where(eq(pipeline.pipeline_id, pipelineId))
    }
  })
}

/** A record, and the settings of its object on the engine. */
interface RecordSettings<Settings> {
  record_id: string
  settings: Settings
}

/**
 * Returns the settings of the objects on the engine, where they differ from the stored settings.
 */
function findChanges<Settings, Actual extends { id: number }>(
  stored: readonly RecordSettings<Settings>[],
  provisioned: readonly ProvisionedObject<unknown>[],
  actual: readonly Actual[],
  toSettings: (object: Actual) => Settings,
): RecordSettings<Settings>[] {
  const changes: RecordSettings<Settings>[] = []
  for (const { record_id, settings: storedSettings } of stored) {
    const sid = provisioned.find(provision => provision.record_id === record_id)?.sid
    // The engine may not have the object yet.
    const object = actual.find(({ id }) => id === sid)
    if (!object) continue
    const settings = toSettings(object)
    if (!isDeepStrictEqual(settings, storedSettings)) changes.push({ record_id, settings })
  }
  return changes
}

const toSourceSettings = ({ decoder, recording }: Source): SourceSettings => ({
  ...(decoder !== DEFAULT_DECODER && { decoder }),
  ...(recording && { recording }),
})

const toPipelineSettings = ({ priority }: Pick<Pipeline, 'priority'>): PipelineSettings =>
  priority === DEFAULT_PRIORITY ? {} : { priority }
