import { managementRoutes, type PipelineElements } from '@eyrie/contract/management/index'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { engine, engineState, pipeline, source, usecase } from '../../../db/schema/index.ts'
import { fieldError, missingRecords } from '../../../errors/field-errors.ts'
import { createDefaultElements } from '../../../inventory/default-elements.ts'
import { findPipelines } from '../../../inventory/pipelines.ts'
import { findReferencedSources } from '../../../inventory/source-keys.ts'
import type { Principal } from '../../../rights/principal.ts'
import { lookup, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.pipeline
/** More than an engine has, and fewer than the database takes in one query. */
const MOST_SOURCES = 1000

export const pipelineOperations = [
  operation(routes.create, async ({ input: { pipeline_source: _, ...fields }, caller }, tx) => {
    await findNamed(tx, fields)
    const organization_id = await ownerOf(tx, caller, fields.engine_id)
    const [made] = await tx
      .insert(pipeline)
      .values({ ...fields, organization_id })
      .returning()
    return { created: made!.pipeline_id }
  }),

  operation(routes.update, async ({ input: { pipeline_id, pipeline_source: _, ...fields } }, tx) => {
    await findNamed(tx, fields)
    // Its id on one engine means nothing on another.
    const pipeline_sid = sql`case when ${pipeline.engine_id} = ${fields.engine_id} then ${pipeline.pipeline_sid} end`
    const values = { ...fields, pipeline_sid }
    assertChanged(
      await tx.update(pipeline).set(values).where(eq(pipeline.pipeline_id, pipeline_id)).returning(),
    )
    return undefined
  }),

  operation(routes.delete, async ({ input: { pipeline_id } }, tx) => {
    assertChanged(await tx.delete(pipeline).where(eq(pipeline.pipeline_id, pipeline_id)).returning())
    return undefined
  }),

  lookup(routes.id, async ({ input: { pipeline_id } }, tx) => {
    const [found] = await findPipelines(tx, eq(pipeline.pipeline_id, pipeline_id))
    return found
  }),

  operation(routes.list, async (_, tx) => ({ value: await findPipelines(tx, undefined) })),

  operation(routes.defaultElement, async ({ input: { usecase_key, engine_id } }, tx) => {
    await findUsecase(tx, 'usecase_key', usecase_key)
    const states = await tx
      .select({ catalog: engineState.engine_catalog })
      .from(engineState)
      .where(engine_id === undefined ? undefined : eq(engineState.engine_id, engine_id))
      .orderBy(asc(engineState.engine_id))
    const catalogs = states.map(({ catalog }) => catalog)
    return { value: { default_data: { elements: createDefaultElements(usecase_key, catalogs) } } }
  }),
]

/** Throws EyrieError `id` where there is no such usecase, or a config names a source that there is not. */
async function findNamed(
  tx: Transaction,
  input: { pipeline_usecase: string; pipeline_elements: PipelineElements },
): Promise<void> {
  await findUsecase(tx, 'pipeline_usecase', input.pipeline_usecase)
  const named = findReferencedSources(input.pipeline_elements.elements)
  if (named.length > MOST_SOURCES)
    throw fieldError('pipeline_elements', `its configs name more than ${MOST_SOURCES} sources`)
  const found = await tx
    .select({ source_id: source.source_id })
    .from(source)
    .where(inArray(source.source_id, named))
  const known = new Set(found.map(({ source_id }) => source_id))
  const missing = named.filter(source_id => !known.has(source_id))
  if (missing.length > 0)
    throw missingRecords(
      missing.map(id => ({ field: `pipeline_elements.elements: ${id}`, record: 'source' })),
    )
}

async function findUsecase(tx: Transaction, field: string, usecase_key: string): Promise<void> {
  const found = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecase_key))
  if (found.length === 0) throw missingRecords([{ field, record: 'usecase' }])
}

/** A pipeline belongs to the organization of its engine, else to its maker's; null: to whoever sees the engine. */
async function ownerOf(tx: Transaction, caller: Principal, engine_id: string): Promise<string | null> {
  const [row] = await tx.select().from(engine).where(eq(engine.engine_id, engine_id))
  const only = caller.memberships.length === 1 ? caller.memberships[0]! : null
  return row?.organization_id ?? (caller.role === 'superadmin' ? null : only)
}
