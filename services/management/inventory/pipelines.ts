import type { ManagedPipeline } from '@eyrie/contract/management/index'
import { and, asc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, pipeline, source } from '../db/schema/index.ts'
import { renameSources } from './source-keys.ts'

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

/** Takes a source that goes out of the configs that name it: what is drawn on it goes with it. */
export async function forgetSource(tx: Transaction, source_id: string): Promise<void> {
  const named = await tx
    .select()
    .from(pipeline)
    .where(sql`${pipeline.pipeline_elements}::text ilike ${`%${source_id}%`}`)
  for (const { pipeline_id, pipeline_elements } of named) {
    const elements = renameSources(pipeline_elements.elements, id => (id === source_id ? undefined : id))
    await tx
      .update(pipeline)
      .set({ pipeline_elements: { elements } })
      .where(eq(pipeline.pipeline_id, pipeline_id))
  }
}
