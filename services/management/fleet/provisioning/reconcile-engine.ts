import { createHash } from 'node:crypto'
import type { Client } from '@eyrie/client'
import type { Source } from '@eyrie/contract'
import type { Drift } from '@eyrie/contract/management/index'
import type { Database } from '../../db/database.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { applySteps, type EngineResource, type Rejection } from './apply-steps.ts'
import { type StoredState, toDesiredPipelines, toDesiredSources } from './desired-state.ts'
import {
  createPipelineResource,
  createSourceResource,
  normalizePipeline,
  redactSource,
} from './engine-resources.ts'
import { provisionChannels } from './provision-channels.ts'
import {
  createProvisionStore,
  deleteLostProvisions,
  type ProvisionStore,
  type ResourceKind,
} from './provision-store.ts'
import { findSurviving, type PlanInput, planReconciliation, type Step } from './reconcile-plan.ts'
import { type EngineKnowledge, readStoredState } from './stored-state.ts'

export interface Reconciliation {
  engine_id: string
  engine: Client
  database: Database
  secrets: Secrets
  /** Id of the engine's output log: an engine that has lost its data has a new one. */
  log_id: string
  /** Overwrites changes made on the engine. */
  repair: boolean
  /** Channels to disconnect. The next reconciliation connects them again, which restarts them. */
  excludedChannels?: ReadonlySet<string>
}

export interface ReconciliationResult {
  drift: Drift[]
  /** SHA-256 of the engine's configuration before the reconciliation. */
  hash: string
}

const NO_ADDRESS = 'the source has no address: set its source_address, or the address of its stream'

/** Applies the stored configuration to an engine. Rejects with `EyrieError` when the engine fails. */
export async function reconcileEngine(reconciliation: Reconciliation): Promise<ReconciliationResult> {
  const { engine_id, engine, database, secrets, repair, excludedChannels } = reconciliation
  const configuration = await engine.getConfiguration()
  const actual: ActualState = {
    sources: configuration.sources,
    pipelines: configuration.pipelines.map(normalizePipeline),
  }
  const { stored, provisioned } = await readKnowledge(reconciliation, actual)

  const store = { engine_id, database, secrets }
  const sourceStore = createProvisionStore({ ...store, kind: 'source', initial: provisioned.sources })
  const pipelineStore = createProvisionStore({ ...store, kind: 'pipeline', initial: provisioned.pipelines })
  const findSourceSid = (id: string) => sourceStore.get(id)?.sid ?? undefined
  const findSid = (id: string) => findSourceSid(id) ?? pipelineStore.get(id)?.sid ?? undefined

  // Sources first: pipelines refer to them by the ids that the engine has assigned.
  const { desired, withoutAddress } = toDesiredSources(stored)
  const sources = await reconcileKind({
    resource: createSourceResource(engine),
    provisions: sourceStore,
    desired,
    actual: actual.sources,
    redact: redactSource,
    repair,
  })
  const pipelines = await reconcileKind({
    resource: createPipelineResource(engine),
    provisions: pipelineStore,
    desired: toDesiredPipelines(excludeChannels(stored, excludedChannels), findSourceSid),
    actual: actual.pipelines,
    redact: fields => fields,
    repair,
  })
  const drift = [
    ...withoutAddress.map(record => toDrift('source', { ...record, sid: null, reason: NO_ADDRESS })),
    ...sources.drift,
    ...pipelines.drift,
    ...(await pipelines.removeUnused()),
    ...(await sources.removeUnused()),
  ]
  if (!excludedChannels) await provisionChannels({ engine_id, engine, database, findSid, drift })
  return { drift, hash: createHash('sha256').update(JSON.stringify(actual)).digest('hex') }
}

interface ActualState {
  sources: Source[]
  pipelines: ReturnType<typeof normalizePipeline>[]
}

interface KindReconciliation<Fields> extends Omit<PlanInput<Fields>, 'provisioned'> {
  resource: EngineResource<Fields>
  provisions: ProvisionStore<Fields>
}

/** Creates and updates the objects of one kind. `removeUnused` removes the rest once nothing refers to it. */
async function reconcileKind<Fields extends object>({
  resource,
  provisions,
  ...input
}: KindReconciliation<Fields>): Promise<{ drift: Drift[]; removeUnused(): Promise<Drift[]> }> {
  const { kind } = resource
  const plan = planReconciliation({ ...input, provisioned: provisions.list() })
  const maxSid = Math.max(0, ...input.actual.map(({ id }) => id))
  const isRemoval = ({ action }: Step<Fields>) => action === 'remove' || action === 'forget'

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

const toDrift = (record: ResourceKind, rejection: Rejection): Drift => ({
  record,
  field: '',
  stored: null,
  found: null,
  ...rejection,
})

const excludeChannels = (stored: StoredState, excluded: ReadonlySet<string> = new Set()): StoredState => ({
  ...stored,
  channels: stored.channels.filter(({ channel_id }) => !excluded.has(channel_id)),
})

/** Reads the stored state; if the engine has a new output log, deletes the provisions that it has lost. */
async function readKnowledge(
  { engine_id, database, secrets, log_id }: Reconciliation,
  actual: ActualState,
): Promise<EngineKnowledge> {
  const knowledge = await database.system('provision an engine', tx =>
    readStoredState(tx, engine_id, secrets),
  )
  if (knowledge.log_id === log_id) return knowledge
  const { provisioned } = knowledge
  const surviving = {
    sources: findSurviving(provisioned.sources, actual.sources, redactSource),
    pipelines: findSurviving(provisioned.pipelines, actual.pipelines, fields => fields),
  }
  const toIds = ({ sources, pipelines }: EngineKnowledge['provisioned']) =>
    [...sources, ...pipelines].map(({ record_id }) => record_id)
  const survivingIds = new Set(toIds(surviving))
  const lostIds = toIds(provisioned).filter(id => !survivingIds.has(id))
  await deleteLostProvisions(database, engine_id, lostIds, log_id)
  return { ...knowledge, provisioned: surviving, log_id }
}
