import { type PipelineElements, pipelineRoutes } from '@eyrie/contract/management/index'
import { isKeyedBySource } from '@eyrie/contract/source-keyed-config'
import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import {
  device,
  engine,
  engineState,
  pipeline,
  site,
  source,
  usecase,
} from '../../../db/schema/index.ts'
import { fieldError, fieldErrors, missingRecords } from '../../../errors/field-errors.ts'
import { createDefaultElements } from '../../../inventory/default-elements.ts'
import { findPipelines, findWhollyVisible } from '../../../inventory/pipelines.ts'
import { findInvalidKeys, findReferencedSources } from '../../../inventory/source-keys.ts'
import type { Principal } from '../../../rights/principal.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/** Maximum number of sources in the configuration of a pipeline: more than an engine can read. */
const MAX_SOURCES = 1000

const HAS_HIDDEN_SOURCES =
  'also analyses sources that you do not see: ask an administrator of the organization, or create another pipeline'

/**
 * API operations on pipelines and the default elements of new pipelines. A pipeline is a sequence
 * of elements that analyze video on an engine. `pipeline_source` in the input is ignored: the
 * channels determine the sources of a pipeline.
 */
export const pipelineOperations = [
  defineOperation(pipelineRoutes.create, async ({ input, caller }, tx) => {
    const { pipeline_source: _, ...fields } = input
    await assertReferencedRecordsExist(tx, fields)
    const organizationId = await findOwnerOrganization(tx, caller, fields)
    const created = firstRow(
      await tx
        .insert(pipeline)
        .values({ ...fields, organization_id: organizationId })
        .returning(),
    )
    return { createdId: created.pipeline_id }
  }),

  defineOperation(pipelineRoutes.update, async ({ input }, tx) => {
    const { pipeline_id: pipelineId, pipeline_source: _, ...fields } = input
    await assertReferencedRecordsExist(tx, fields)
    // The caller would remove the settings of sources that are hidden from it.
    const visibleIds = await findWhollyVisible(tx, [pipelineId])
    if (!visibleIds.has(pipelineId)) {
      throw fieldError('pipeline_id', HAS_HIDDEN_SOURCES, { code: 'rights' })
    }
    // `pipeline_sid` is the id that the engine has assigned. A pipeline that moves to
    // another engine loses it.
    const pipelineSid = sql`case
        when ${pipeline.engine_id} = ${fields.engine_id} then ${pipeline.pipeline_sid}
      end`
    const values = { ...fields, pipeline_sid: pipelineSid }
    const condition = eq(pipeline.pipeline_id, pipelineId)
    assertChanged(await tx.update(pipeline).set(values).where(condition).returning())
  }),

  defineOperation(pipelineRoutes.delete, async ({ input }, tx) => {
    assertChanged(
      await tx.delete(pipeline).where(eq(pipeline.pipeline_id, input.pipeline_id)).returning(),
    )
  }),

  defineLookup(pipelineRoutes.get, async ({ input }, tx) => {
    const [row] = await findPipelines(tx, eq(pipeline.pipeline_id, input.pipeline_id))
    return row
  }),

  defineOperation(pipelineRoutes.list, async (_, tx) => ({
    value: await findPipelines(tx, undefined),
  })),

  defineOperation(pipelineRoutes.defaultElement, async ({ input }, tx) => {
    await assertUsecaseExists(tx, 'usecase_key', input.usecase_key)
    const states = await tx
      .select({ catalog: engineState.engine_catalog })
      .from(engineState)
      .where(input.engine_id === undefined ? undefined : eq(engineState.engine_id, input.engine_id))
      .orderBy(asc(engineState.engine_id))
    const catalogs = states.map(({ catalog }) => catalog)
    return {
      value: { default_data: { elements: createDefaultElements(input.usecase_key, catalogs) } },
    }
  }),
]

/** The elements of a pipeline, and the engine that runs them. */
interface PlacedElements {
  engine_id: string
  pipeline_elements: PipelineElements
}

/**
 * Throws `EyrieError` (`id`) if the usecase or a source in the configuration of an element does not
 * exist, and `EyrieError` (`syntax`) for invalid keys of such a configuration.
 */
async function assertReferencedRecordsExist(
  tx: Transaction,
  input: PlacedElements & { pipeline_usecase: string },
): Promise<void> {
  await assertUsecaseExists(tx, 'pipeline_usecase', input.pipeline_usecase)
  await assertValidKeys(tx, input)
  const sourceIds = findReferencedSources(input.pipeline_elements.elements)
  if (sourceIds.length > MAX_SOURCES) {
    throw fieldError('pipeline_elements', `refers to more than ${MAX_SOURCES} sources`)
  }

  const rows = await tx
    .select({ source_id: source.source_id })
    .from(source)
    .where(inArray(source.source_id, sourceIds))
  const knownIds = new Set(rows.map(({ source_id }) => source_id))
  const unknownIds = sourceIds.filter(sourceId => !knownIds.has(sourceId))
  if (unknownIds.length > 0) {
    throw missingRecords(
      unknownIds.map(sourceId => ({
        field: `pipeline_elements.elements: ${sourceId}`,
        record: 'source',
      })),
    )
  }
}

/**
 * Throws `EyrieError` (`syntax`) if a key of a source-dependent configuration is not a list of
 * sources, as the engine requires.
 */
async function assertValidKeys(
  tx: Transaction,
  { engine_id, pipeline_elements: { elements } }: PlacedElements,
): Promise<void> {
  const [state] = await tx
    .select({ catalog: engineState.engine_catalog })
    .from(engineState)
    .where(eq(engineState.engine_id, engine_id))
  const catalogElements = new Map(state?.catalog.elements?.map(element => [element.name, element]))
  const invalidKeys = findInvalidKeys(elements, name => {
    const element = catalogElements.get(name)
    return element && isKeyedBySource(element)
  })
  if (invalidKeys.length > 0) {
    throw fieldErrors(
      invalidKeys.map(({ index, reason }) => ({
        field: `pipeline_elements.elements.${index}.config`,
        reason,
      })),
    )
  }
}

async function assertUsecaseExists(
  tx: Transaction,
  field: string,
  usecaseKey: string,
): Promise<void> {
  const rows = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecaseKey))
  if (rows.length === 0) throw missingRecords([{ field, record: 'usecase' }])
}

/**
 * Returns the organization that owns a new pipeline: that of the configured sources, of the engine,
 * of the caller, or of the devices of the engine, in this order. If none of them is unique, returns
 * null for a superadmin: the pipeline will belong to the organization of its first channel, and
 * until then only superadmins see it. Throws `EyrieError` (`syntax`) for other callers.
 */
async function findOwnerOrganization(
  tx: Transaction,
  caller: Principal,
  { engine_id: engineId, pipeline_elements: { elements } }: PlacedElements,
): Promise<string | null> {
  const sourceIds = findReferencedSources(elements)
  const [sourceOwner, ...otherSourceOwners] = await listOwnersOfSources(tx, sourceIds)
  if (otherSourceOwners.length > 0) {
    throw fieldError(
      'pipeline_elements',
      'refers to sources of several organizations: create a pipeline for each',
    )
  }
  if (sourceOwner !== undefined) return sourceOwner

  const [engineRow] = await tx.select().from(engine).where(eq(engine.engine_id, engineId))
  if (engineRow?.organization_id) return engineRow.organization_id

  const isSuperadmin = caller.role === 'superadmin'
  const [membership, ...otherMemberships] = caller.memberships
  if (!isSuperadmin && membership !== undefined && otherMemberships.length === 0) return membership

  const [deviceOwner, ...otherDeviceOwners] = await listOwnersOfDevices(tx, engineId)
  if (deviceOwner !== undefined && otherDeviceOwners.length === 0) return deviceOwner
  if (isSuperadmin) return null
  throw fieldError(
    'pipeline_elements',
    'name a source in the configuration: you belong to several organizations, and its organization will own the pipeline',
  )
}

async function listOwnersOfSources(tx: Transaction, sourceIds: string[]): Promise<string[]> {
  const rows = await tx
    .selectDistinct({ organization_id: site.organization_id })
    .from(source)
    .innerJoin(site, eq(site.site_id, source.site_id))
    .where(inArray(source.source_id, sourceIds))
  return rows.map(({ organization_id }) => organization_id)
}

async function listOwnersOfDevices(tx: Transaction, engineId: string): Promise<string[]> {
  const rows = await tx
    .selectDistinct({ organization_id: site.organization_id })
    .from(device)
    .innerJoin(site, eq(site.site_id, device.site_id))
    .where(eq(device.engine_id, engineId))
  return rows.map(({ organization_id }) => organization_id)
}
