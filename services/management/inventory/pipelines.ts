import type { ManagedPipeline } from '@eyrie/contract/management/index'
import { and, asc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, pipeline, source } from '../db/schema/index.ts'
import { mapSourceKeys } from './source-keys.ts'

/** Returns the pipelines that satisfy a condition, each with the ids that its sources have on the engine. */
export async function findPipelines(tx: Transaction, condition: SQL | undefined): Promise<ManagedPipeline[]> {
  const rows = await tx
    .select()
    .from(pipeline)
    .where(condition)
    .orderBy(asc(pipeline.pipeline_name), asc(pipeline.pipeline_id))

  // A channel connects a source to a pipeline. `source_sid` is the id that the engine has assigned to the source.
  const ids = rows.map(({ pipeline_id }) => pipeline_id)
  const connectedSources = await tx
    .select({ pipeline_id: channel.pipeline_id, source_sid: source.source_sid })
    .from(channel)
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .where(and(inArray(channel.pipeline_id, ids), isNotNull(source.source_sid)))
    .orderBy(asc(source.source_sid))
  const sourcesByPipeline = Map.groupBy(connectedSources, ({ pipeline_id }) => pipeline_id)

  return rows.map(row => {
    const sources = sourcesByPipeline.get(row.pipeline_id) ?? []
    return { ...row, pipeline_source: sources.map(({ source_sid }) => source_sid!) }
  })
}

/** Removes a deleted source, and the shapes drawn in its picture, from the configurations of all pipelines. */
export async function removeSourceFromConfigs(tx: Transaction, source_id: string): Promise<void> {
  const rows = await tx
    .select()
    .from(pipeline)
    .where(sql`${pipeline.pipeline_elements}::text ilike ${`%${source_id}%`}`)
  // `mapSourceKeys` removes the ids that this function maps to undefined.
  const omitSource = (id: string) => (id === source_id ? undefined : id)

  for (const { pipeline_id, pipeline_elements } of rows) {
    const elements = mapSourceKeys(pipeline_elements.elements, omitSource)
    await tx
      .update(pipeline)
      .set({ pipeline_elements: { elements } })
      .where(eq(pipeline.pipeline_id, pipeline_id))
  }
}
