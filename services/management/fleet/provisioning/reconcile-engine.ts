import { createHash } from 'node:crypto'
import type { Client } from '@eyrie/client'
import type { Source } from '@eyrie/contract'
import type { Drift } from '@eyrie/contract/management/index'
import type { Database } from '../../db/database.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { applySteps, type EngineResource, type Rejection } from './apply-steps.ts'
import { type StoredConfiguration, toDesiredPipelines, toDesiredSources } from './desired-state.ts'
import {
  createPipelineResource,
  createSourceResource,
  normalizePipeline,
  redactSource,
} from './engine-resources.ts'
import { storeEngineSettings } from './engine-settings.ts'
import { provisionChannels } from './provision-channels.ts'
import {
  createProvisionStore,
  deleteLostProvisions,
  type ProvisionStore,
  type ResourceKind,
} from './provision-store.ts'
import { type ProvisioningState, readProvisioningState } from './provisioning-state.ts'
import {
  findIntactObjects,
  type PlanInput,
  planReconciliation,
  type Step,
} from './reconcile-plan.ts'

// A reconciliation applies the stored configuration to an engine: it creates, updates and removes
// sources and pipelines until the engine has them as stored. Differences that remain are reported
// as drift. A `sid` is an id that the engine has assigned.

export interface ReconciliationOptions {
  engine_id: string
  engine: Client
  database: Database
  secrets: Secrets
  /** Id of the engine's output log. An engine that has lost its data has a new log. */
  log_id: string
  /** Overwrites the changes that other clients have made on the engine. */
  repair: boolean
  /** Ids of channels to stop. The next reconciliation starts them again. */
  excludedChannels?: ReadonlySet<string>
}

export interface ReconciliationResult {
  /** The differences that remain between the engine and its stored configuration. */
  drift: Drift[]
  /** SHA-256 of the engine's configuration before the reconciliation. */
  hash: string
}

const NO_ADDRESS = 'the source has no address: set its source_address, or the address of its stream'

/**
 * Applies the stored configuration to an engine. Rejects with `EyrieError` when the engine fails.
 */
export async function reconcileEngine(
  options: ReconciliationOptions,
): Promise<ReconciliationResult> {
  const { engine_id, engine, database, excludedChannels } = options
  const configuration = await engine.getConfiguration()
  const actual: ActualObjects = {
    sources: configuration.sources,
    pipelines: configuration.pipelines.map(normalizePipeline),
  }
  const state = await loadProvisioningState(options, actual)
  const { stored, provisioned } = state
  await storeEngineSettings({ engine_id, database, stored, provisioned, actual })

  const { drift, findSid } = await reconcileObjects(options, state, actual)
  if (!excludedChannels) await provisionChannels({ engine_id, engine, database, findSid, drift })
  const hash = createHash('sha256').update(JSON.stringify(actual)).digest('hex')
  return { drift, hash }
}

/**
 * Creates, updates and removes sources and pipelines on the engine. `findSid` of the result returns
 * the id that the engine has assigned to the source or pipeline of a record.
 */
async function reconcileObjects(
  { engine_id, engine, database, secrets, repair, excludedChannels }: ReconciliationOptions,
  { stored, provisioned }: ProvisioningState,
  actual: ActualObjects,
): Promise<{ drift: Drift[]; findSid(recordId: string): number | undefined }> {
  // The stores contain the sids of the objects that earlier reconciliations have created.
  const storeOptions = { engine_id, database, secrets }
  const sourceStore = createProvisionStore({
    ...storeOptions,
    kind: 'source',
    initial: provisioned.sources,
  })
  const pipelineStore = createProvisionStore({
    ...storeOptions,
    kind: 'pipeline',
    initial: provisioned.pipelines,
  })
  const findSourceSid = (id: string) => sourceStore.get(id)?.sid ?? undefined
  const findPipelineSid = (id: string) => pipelineStore.get(id)?.sid ?? undefined

  const sourceSettings = new Map(stored.sources.map(row => [row.source_id, row.source_settings]))
  const pipelineSettings = new Map(
    stored.pipelines.map(row => [row.pipeline_id, row.pipeline_settings]),
  )

  // Sources come first, because pipelines refer to sources by the ids that the engine has assigned.
  const { desired, withoutAddress } = toDesiredSources(stored)
  const sources = await reconcileKind({
    resource: createSourceResource(engine, recordId => sourceSettings.get(recordId)),
    provisions: sourceStore,
    desired,
    actual: actual.sources,
    redact: redactSource,
    repair,
  })
  const pipelines = await reconcileKind({
    resource: createPipelineResource(engine, recordId => pipelineSettings.get(recordId)),
    provisions: pipelineStore,
    desired: toDesiredPipelines(excludeChannels(stored, excludedChannels), findSourceSid),
    actual: actual.pipelines,
    redact: fields => fields,
    repair,
  })

  // Pipelines are removed first, because they refer to sources.
  const removalDrift = [...(await pipelines.removeUnused()), ...(await sources.removeUnused())]
  const addressDrift = withoutAddress.map(record =>
    toDrift('source', { ...record, sid: null, reason: NO_ADDRESS }),
  )
  return {
    drift: [...addressDrift, ...sources.drift, ...pipelines.drift, ...removalDrift],
    findSid: id => findSourceSid(id) ?? findPipelineSid(id),
  }
}

/** The sources and pipelines that exist on the engine. */
interface ActualObjects {
  sources: Source[]
  pipelines: ReturnType<typeof normalizePipeline>[]
}

interface KindReconciliation<Fields> extends Omit<PlanInput<Fields>, 'provisioned'> {
  resource: EngineResource<Fields>
  provisions: ProvisionStore<Fields>
}

/**
 * Creates and updates the objects of one kind. Resolves to the drift and to `removeUnused`, which
 * removes the objects that are no longer stored.
 */
async function reconcileKind<Fields extends object>({
  resource,
  provisions,
  ...input
}: KindReconciliation<Fields>): Promise<{ drift: Drift[]; removeUnused(): Promise<Drift[]> }> {
  const { kind } = resource
  const plan = planReconciliation({ ...input, provisioned: provisions.list() })
  const maxSid = Math.max(0, ...input.actual.map(({ id }) => id))
  const isRemoval = ({ action }: Step<Fields>) => action === 'remove' || action === 'discard'

  async function apply(steps: Step<Fields>[]): Promise<Drift[]> {
    const rejections = await applySteps(steps, { resource, provisions, maxSid })
    return rejections.map(rejection => toDrift(kind, rejection))
  }

  const fieldDrift = plan.drift.map((drift): Drift => ({ ...drift, record: kind, reason: '' }))
  const rejected = await apply(plan.steps.filter(step => !isRemoval(step)))
  return {
    drift: [...fieldDrift, ...rejected],
    removeUnused: () => apply(plan.steps.filter(isRemoval)),
  }
}

/**
 * Describes a record that the engine does not accept. The whole object differs then, not a single
 * field.
 */
const toDrift = (record: ResourceKind, rejection: Rejection): Drift => ({
  record,
  field: '',
  stored: null,
  found: null,
  ...rejection,
})

const excludeChannels = (
  stored: StoredConfiguration,
  excluded: ReadonlySet<string> = new Set(),
): StoredConfiguration => ({
  ...stored,
  channels: stored.channels.filter(({ channel_id }) => !excluded.has(channel_id)),
})

/**
 * Reads the provisioning state. If the engine has a new output log, provisions of lost
 * objects are deleted first.
 */
async function loadProvisioningState(
  { engine_id: engineId, database, secrets, log_id: logId }: ReconciliationOptions,
  actual: ActualObjects,
): Promise<ProvisioningState> {
  const state = await database.system('provision an engine', tx =>
    readProvisioningState(tx, engineId, secrets),
  )
  if (state.log_id === logId) return state

  const { provisioned } = state
  const intact = {
    sources: findIntactObjects(provisioned.sources, actual.sources, redactSource),
    pipelines: findIntactObjects(provisioned.pipelines, actual.pipelines, fields => fields),
  }
  const listIds = ({ sources, pipelines }: ProvisioningState['provisioned']) =>
    [...sources, ...pipelines].map(({ record_id }) => record_id)
  const intactIds = new Set(listIds(intact))
  const lostIds = listIds(provisioned).filter(id => !intactIds.has(id))
  await deleteLostProvisions(database, engineId, lostIds, logId)
  return { ...state, provisioned: intact, log_id: logId }
}
