import { managementRoutes, type PipelineElements } from '@eyrie/contract/management/index'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { engine, engineState, pipeline, source, usecase } from '../../../db/schema/index.ts'
import { fieldError, missingRecords } from '../../../errors/field-errors.ts'
import { createDefaultElements } from '../../../inventory/default-elements.ts'
import { findPipelines } from '../../../inventory/pipelines.ts'
import { findReferencedSources } from '../../../inventory/source-keys.ts'
import type { Principal } from '../../../rights/principal.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.pipeline
/** More than one engine reads, and few enough for one database query. */
const MAX_SOURCES = 1000

export const pipelineOperations = [
  defineOperation(routes.create, async ({ input: { pipeline_source: _, ...fields }, caller }, tx) => {
    await assertReferencedRecordsExist(tx, fields)
    const organization_id = await findOwner(tx, caller, fields.engine_id)
    const [created] = await tx
      .insert(pipeline)
      .values({ ...fields, organization_id })
      .returning()
    return { created: created!.pipeline_id }
  }),

  defineOperation(routes.update, async ({ input: { pipeline_id, pipeline_source: _, ...fields } }, tx) => {
    await assertReferencedRecordsExist(tx, fields)
    // The pipeline gets a new id when it moves to another engine.
    const pipeline_sid = sql`case when ${pipeline.engine_id} = ${fields.engine_id} then ${pipeline.pipeline_sid} end`
    const values = { ...fields, pipeline_sid }
    assertChanged(
      await tx.update(pipeline).set(values).where(eq(pipeline.pipeline_id, pipeline_id)).returning(),
    )
    return undefined
  }),

  defineOperation(routes.delete, async ({ input: { pipeline_id } }, tx) => {
    assertChanged(await tx.delete(pipeline).where(eq(pipeline.pipeline_id, pipeline_id)).returning())
    return undefined
  }),

  defineLookup(routes.id, async ({ input: { pipeline_id } }, tx) => {
    const [row] = await findPipelines(tx, eq(pipeline.pipeline_id, pipeline_id))
    return row
  }),

  defineOperation(routes.list, async (_, tx) => ({ value: await findPipelines(tx, undefined) })),

  defineOperation(routes.defaultElement, async ({ input: { usecase_key, engine_id } }, tx) => {
    await assertUsecaseExists(tx, 'usecase_key', usecase_key)
    const states = await tx
      .select({ catalog: engineState.engine_catalog })
      .from(engineState)
      .where(engine_id === undefined ? undefined : eq(engineState.engine_id, engine_id))
      .orderBy(asc(engineState.engine_id))
    const catalogs = states.map(({ catalog }) => catalog)
    return { value: { default_data: { elements: createDefaultElements(usecase_key, catalogs) } } }
  }),
]

/** Throws `EyrieError` (`id`) if the usecase or a source in the elements' configurations does not exist. */
async function assertReferencedRecordsExist(
  tx: Transaction,
  input: { pipeline_usecase: string; pipeline_elements: PipelineElements },
): Promise<void> {
  await assertUsecaseExists(tx, 'pipeline_usecase', input.pipeline_usecase)
  const sourceIds = findReferencedSources(input.pipeline_elements.elements)
  if (sourceIds.length > MAX_SOURCES)
    throw fieldError('pipeline_elements', `refers to more than ${MAX_SOURCES} sources`)
  const rows = await tx
    .select({ source_id: source.source_id })
    .from(source)
    .where(inArray(source.source_id, sourceIds))
  const known = new Set(rows.map(({ source_id }) => source_id))
  const missing = sourceIds.filter(source_id => !known.has(source_id))
  if (missing.length > 0)
    throw missingRecords(
      missing.map(id => ({ field: `pipeline_elements.elements: ${id}`, record: 'source' })),
    )
}

async function assertUsecaseExists(tx: Transaction, field: string, usecase_key: string): Promise<void> {
  const rows = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecase_key))
  if (rows.length === 0) throw missingRecords([{ field, record: 'usecase' }])
}

/** Returns the organization of the engine, or the only one of the caller. Null: visible to all who see the engine. */
async function findOwner(tx: Transaction, caller: Principal, engine_id: string): Promise<string | null> {
  const [row] = await tx.select().from(engine).where(eq(engine.engine_id, engine_id))
  const ownOrganization = caller.memberships.length === 1 ? caller.memberships[0]! : null
  return row?.organization_id ?? (caller.role === 'superadmin' ? null : ownOrganization)
}
