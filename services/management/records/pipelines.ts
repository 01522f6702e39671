import type { ManagedPipeline } from '@eyrie/contract/management/index'
import { and, asc, eq, inArray, isNotNull, type SQL } from 'drizzle-orm'
import type { Transaction } from '../db/open.ts'
import { channel, pipeline, source } from '../db/schema/index.ts'

/** The pipelines that meet a condition on their columns, with the engine's ids of their sources. */
export async function pipelines(tx: Transaction, condition: SQL | undefined): Promise<ManagedPipeline[]> {
  const rows = await tx
    .select()
    .from(pipeline)
    .where(condition)
    .orderBy(asc(pipeline.pipeline_name), asc(pipeline.pipeline_id))
  const ids = rows.map(({ pipeline_id }) => pipeline_id)
  const connected = await tx
    .select({ pipeline_id: channel.pipeline_id, source_sid: source.source_sid })
    .from(channel)
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .where(and(inArray(channel.pipeline_id, ids), isNotNull(source.source_sid)))
    .orderBy(asc(source.source_sid))
  const sids = Map.groupBy(connected, ({ pipeline_id }) => pipeline_id)
  return rows.map(row => ({
    ...row,
    pipeline_source: (sids.get(row.pipeline_id) ?? []).map(({ source_sid }) => source_sid!),
  }))
}
