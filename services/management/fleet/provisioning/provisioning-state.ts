import { and, eq, or } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Transaction } from '../../db/database.ts'
import {
  channel,
  deviceStream,
  engineState,
  pipeline,
  provision,
  source,
} from '../../db/schema/index.ts'
import { isAnyOf } from '../../db/text-array.ts'
import { decryptAddress } from '../../inventory/stored-addresses.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { PipelineFields, StoredConfiguration } from './desired-state.ts'
import type { ResourceKind } from './provision-store.ts'
import type { ProvisionedObject } from './reconcile-plan.ts'
import type { SourceFields } from './source-fields.ts'

/**
 * The stored configuration of an engine, and the objects that the management service has
 * created on the engine.
 */
export interface ProvisioningState {
  stored: StoredConfiguration
  provisioned: {
    sources: ProvisionedObject<SourceFields>[]
    pipelines: ProvisionedObject<PipelineFields>[]
  }
  /**
   * Id of the engine's output log when the ids in `provisioned` were assigned. Null before
   * the first assignment.
   */
  log_id: string | null
}

/** Reads the provisioning state of an engine and decrypts the secrets in it. */
export async function readProvisioningState(
  tx: Transaction,
  engineId: string,
  secrets: Secrets,
): Promise<ProvisioningState> {
  const sources = await readSources(tx, engineId, secrets)
  const channels = await tx.select().from(channel).where(eq(channel.engine_id, engineId))
  const usedPipelineIds = channels.map(({ pipeline_id }) => pipeline_id)
  const pipelines = await readPipelines(tx, engineId, usedPipelineIds)
  const provisioned = await readProvisioned(tx, engineId, secrets)
  const [state] = await tx.select().from(engineState).where(eq(engineState.engine_id, engineId))
  return {
    stored: { sources, pipelines, channels },
    provisioned,
    log_id: state?.provisioned_log_id ?? null,
  }
}

/** Reads the sources of an engine with their device streams, and decrypts their passwords. */
async function readSources(
  tx: Transaction,
  engineId: string,
  secrets: Secrets,
): Promise<StoredConfiguration['sources']> {
  const subStream = alias(deviceStream, 'sub_stream')
  const rows = await tx
    .select()
    .from(source)
    .leftJoin(
      deviceStream,
      and(eq(deviceStream.device_id, source.device_id), eq(deviceStream.id, source.stream_id)),
    )
    .leftJoin(
      subStream,
      and(eq(subStream.device_id, source.device_id), eq(subStream.id, source.sub_stream_id)),
    )
    .where(eq(source.engine_id, engineId))
    .orderBy(source.created_at)

  const decryptStream = (stream: typeof deviceStream.$inferSelect | null) =>
    stream && {
      ...stream,
      address: decryptAddress(stream.address, secrets),
      password: secrets.decrypt(stream.password),
    }
  return rows.map(row => ({
    ...row.source,
    source_address: decryptAddress(row.source.source_address, secrets),
    stream: decryptStream(row.device_stream),
    sub_stream: decryptStream(row.sub_stream),
  }))
}

/**
 * Reads the pipelines of an engine, and those of other engines from which channels were
 * moved to this engine.
 */
async function readPipelines(
  tx: Transaction,
  engineId: string,
  usedIds: string[],
): Promise<StoredConfiguration['pipelines']> {
  const rows = await tx
    .select()
    .from(pipeline)
    .where(or(eq(pipeline.engine_id, engineId), isAnyOf(pipeline.pipeline_id, usedIds)))
    .orderBy(pipeline.created_at)
  // The cast is safe, because the API stores only validated elements.
  return rows as StoredConfiguration['pipelines']
}

/** Reads which objects management has created on an engine, with the fields as last written. */
async function readProvisioned(
  tx: Transaction,
  engineId: string,
  secrets: Secrets,
): Promise<ProvisioningState['provisioned']> {
  const rows = await tx.select().from(provision).where(eq(provision.engine_id, engineId))

  /**
   * Returns the objects of one kind. `Fields` is the type of the fields that management
   * writes for this kind.
   */
  const selectKind = <Fields>(resourceKind: ResourceKind): ProvisionedObject<Fields>[] =>
    rows
      .filter(({ kind }) => kind === resourceKind)
      .map(row => ({ ...row, applied: JSON.parse(secrets.decrypt(row.applied)) as Fields }))

  return {
    sources: selectKind<SourceFields>('source'),
    pipelines: selectKind<PipelineFields>('pipeline'),
  }
}
