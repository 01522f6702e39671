import { and, eq } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, deviceStream, engineState, pipeline, provision, source } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { PipelineFields, StoredState } from './desired-state.ts'
import type { ResourceKind } from './provision-store.ts'
import type { Provisioned } from './reconcile-plan.ts'
import type { SourceFields } from './source-fields.ts'

/** The stored configuration of an engine, and the objects that management has created on it. */
export interface EngineKnowledge {
  stored: StoredState
  provisioned: { sources: Provisioned<SourceFields>[]; pipelines: Provisioned<PipelineFields>[] }
  /** The output log that the engine had when the ids in `provisioned` were assigned; null: none has been assigned. */
  log_id: string | null
}

export async function readStoredState(
  tx: Transaction,
  engine_id: string,
  secrets: Secrets,
): Promise<EngineKnowledge> {
  const sources = await tx
    .select()
    .from(source)
    .leftJoin(
      deviceStream,
      and(eq(deviceStream.device_id, source.device_id), eq(deviceStream.id, source.stream_id)),
    )
    .where(eq(source.engine_id, engine_id))
    .orderBy(source.created_at)
  const pipelines = await tx
    .select()
    .from(pipeline)
    .where(eq(pipeline.engine_id, engine_id))
    .orderBy(pipeline.created_at)
  const channels = await tx.select().from(channel).where(eq(channel.engine_id, engine_id))
  const provisions = await tx.select().from(provision).where(eq(provision.engine_id, engine_id))
  const [state] = await tx.select().from(engineState).where(eq(engineState.engine_id, engine_id))

  function selectProvisioned<Fields>(wantedKind: ResourceKind): Provisioned<Fields>[] {
    return provisions
      .filter(({ kind }) => kind === wantedKind)
      .map(row => ({ ...row, applied: JSON.parse(secrets.open(row.applied)) }))
  }
  return {
    stored: {
      sources: sources.map(({ source, device_stream: stream }) => ({
        ...source,
        stream: stream && { ...stream, password: secrets.open(stream.password) },
      })),
      pipelines: pipelines.map(row => ({
        ...row,
        pipeline_elements: row.pipeline_elements as StoredState['pipelines'][number]['pipeline_elements'],
      })),
      channels,
    },
    provisioned: {
      sources: selectProvisioned<SourceFields>('source'),
      pipelines: selectProvisioned<PipelineFields>('pipeline'),
    },
    log_id: state?.provisioned_log_id ?? null,
  }
}
