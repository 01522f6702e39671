import { and, eq } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { channel, deviceStream, engineState, pipeline, provision, source } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { PipelineFields, Stored } from './desired-state.ts'
import type { Made } from './difference.ts'
import type { SourceFields } from './source-address.ts'

/** What management knows of an engine: what it shall have, and what has been made on it. */
export interface Knowledge {
  stored: Stored
  made: { source: Made<SourceFields>[]; pipeline: Made<PipelineFields>[] }
  /** The output log that the ids in `made` are as old as; null: nothing has been made yet. */
  log_id: string | null
}

export async function readStoredState(
  tx: Transaction,
  engine_id: string,
  secrets: Secrets,
): Promise<Knowledge> {
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
  const made = await tx.select().from(provision).where(eq(provision.engine_id, engine_id))
  const [state] = await tx.select().from(engineState).where(eq(engineState.engine_id, engine_id))

  const madeOf = <Fields>(wanted: 'source' | 'pipeline'): Made<Fields>[] =>
    made
      .filter(({ kind }) => kind === wanted)
      .map(row => ({ ...row, applied: JSON.parse(secrets.open(row.applied)) }))
  return {
    stored: {
      sources: sources.map(({ source, device_stream: stream }) => ({
        ...source,
        stream: stream && { ...stream, password: secrets.open(stream.password) },
      })),
      pipelines: pipelines.map(row => ({
        ...row,
        pipeline_elements: row.pipeline_elements as Stored['pipelines'][number]['pipeline_elements'],
      })),
      channels,
    },
    made: { source: madeOf('source'), pipeline: madeOf('pipeline') },
    log_id: state?.provisioned_log_id ?? null,
  }
}
