import type { ManagedPipeline } from '@eyrie/contract/management/index'
import { and, asc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { withFullScope } from '../db/full-scope.ts'
import { channel, pipeline, source } from '../db/schema/index.ts'
import { findReferencedSources, mapSourceKeys } from './source-keys.ts'

/**
 * Returns the pipelines that satisfy a condition, each with the ids that the engine has assigned to
 * its sources. Sources that the caller may not see are omitted, and so are their settings in the
 * elements of the pipeline.
 */
export async function findPipelines(
  tx: Transaction,
  condition: SQL | undefined,
): Promise<ManagedPipeline[]> {
  const rows = await tx
    .select()
    .from(pipeline)
    .where(condition)
    .orderBy(asc(pipeline.pipeline_name), asc(pipeline.pipeline_id))

  // A channel connects a source to a pipeline. `source_sid` is the id that the engine has
  // assigned to the source.
  const ids = rows.map(({ pipeline_id }) => pipeline_id)
  const connectedSources = await tx
    .select({ pipeline_id: channel.pipeline_id, source_sid: source.source_sid })
    .from(channel)
    .innerJoin(source, eq(source.source_id, channel.source_id))
    .where(and(inArray(channel.pipeline_id, ids), isNotNull(source.source_sid)))
    .orderBy(asc(source.source_sid))
  const sourcesByPipeline = Map.groupBy(connectedSources, ({ pipeline_id }) => pipeline_id)

  const referencedIds = rows.flatMap(row => findReferencedSources(row.pipeline_elements.elements))
  const visibleIds = await findVisibleSources(tx, referencedIds)
  const omitHidden = (id: string) => (visibleIds.has(id) ? id : undefined)
  return rows.map(row => {
    const sources = sourcesByPipeline.get(row.pipeline_id) ?? []
    const elements = mapSourceKeys(row.pipeline_elements.elements, omitHidden)
    return {
      ...row,
      pipeline_elements: { elements },
      pipeline_source: sources.flatMap(({ source_sid }) => source_sid ?? []),
    }
  })
}

/** Returns which of these ids belong to sources that the caller may see. */
async function findVisibleSources(tx: Transaction, ids: string[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({ source_id: source.source_id })
    .from(source)
    .where(inArray(source.source_id, [...new Set(ids)]))
  return new Set(rows.map(({ source_id }) => source_id))
}

/**
 * Returns the ids of the pipelines of which the caller may see everything: all their channels, and
 * all sources in the configurations of their elements.
 */
export async function findWhollyVisible(
  tx: Transaction,
  ids: string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({
      pipeline_id: pipeline.pipeline_id,
      elements: pipeline.pipeline_elements,
      hasHiddenChannels: sql<boolean>`has_hidden_channels(${pipeline.pipeline_id})`,
    })
    .from(pipeline)
    .where(inArray(pipeline.pipeline_id, ids))

  const referencedIds = rows.flatMap(row => findReferencedSources(row.elements.elements))
  const visibleIds = await findVisibleSources(tx, referencedIds)
  // With full rights, all sources are visible that exist.
  const existingIds = await withFullScope(tx, () => findVisibleSources(tx, referencedIds))
  const isHidden = (id: string) => existingIds.has(id) && !visibleIds.has(id)

  const whollyVisible = rows.filter(
    row => !row.hasHiddenChannels && !findReferencedSources(row.elements.elements).some(isHidden),
  )
  return new Set(whollyVisible.map(({ pipeline_id }) => pipeline_id))
}

/**
 * Removes the settings of a deleted source from the elements of all pipelines, even of pipelines
 * that the caller may not change.
 */
export const removeSourceFromConfigs = (tx: Transaction, sourceId: string): Promise<void> =>
  withFullScope(tx, () => removeFromConfigs(tx, sourceId))

async function removeFromConfigs(tx: Transaction, sourceId: string): Promise<void> {
  // Ids are UUIDs, so a pipeline whose JSON contains the text refers to the source.
  const rows = await tx
    .select()
    .from(pipeline)
    .where(sql`${pipeline.pipeline_elements}::text ilike ${`%${sourceId}%`}`)
  // `mapSourceKeys` removes the ids that this function maps to undefined.
  const omitSource = (id: string) => (id === sourceId ? undefined : id)

  for (const { pipeline_id: pipelineId, pipeline_elements: pipelineElements } of rows) {
    const elements = mapSourceKeys(pipelineElements.elements, omitSource)
    await tx
      .update(pipeline)
      .set({ pipeline_elements: { elements } })
      .where(eq(pipeline.pipeline_id, pipelineId))
  }
}
