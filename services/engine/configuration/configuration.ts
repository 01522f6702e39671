import { isDeepStrictEqual } from 'node:util'
import type {
  Configuration as ConfigurationBody,
  Deployment,
  Override,
  Pacing,
  Pipeline,
  PipelineInput,
  Sink,
  SinkInput,
  Source,
  SourceInput,
} from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import { noopTracer, type Tracer } from '@eyrie/kit/tracer'
import { Mutex } from 'async-mutex'
import type { Catalog } from '../catalog/catalog.ts'
import type { ChannelPlan, Plan } from '../plan/plan.ts'
import { hideSecrets } from './checks/address-secrets.ts'
import type { Roots } from './checks/addresses.ts'
import { type ConfigurationState, emptyState } from './configuration-state.ts'
import { createConfigurationStore } from './configuration-store.ts'
import { applyDeployment, type RecordingPolicy } from './deployment.ts'
import { assertIfMatch, computeEtag, type Tagged } from './etag.ts'
import { type Connectable, connectToPipeline, disconnectFromPipeline } from './pipeline-connections.ts'
import { createPipelineDefinition } from './pipeline-definition.ts'
import { createResources, type Edit, type Resources } from './resources.ts'
import { assignChannelIds, listConnectedChannels, toPlan } from './runtime-plan.ts'
import { createSinkDefinition } from './sink-definition.ts'
import { createSourceDefinition } from './source-definition.ts'

/** Runs the channels of a plan. */
export interface PlanRunner {
  apply(plan: Plan): Promise<void>
  /** Calls the listener when a source of type `file` has been played to the end. */
  onSourceEnded(listener: (source: number) => void): void
}

export interface ConfigurationDependencies {
  /** Folder of the configuration file. */
  folder: string
  roots: Roots
  pacing: Pacing
  catalog: Catalog
  runtime: PlanRunner
  tracer?: Tracer
  /** Throws `EyrieError` (`capacity`) if the machine cannot run what the second plan adds to the first. */
  admit(before: Plan, after: Plan): void
  log: Log
}

/**
 * The configuration of the engine. Edits are serialized; each one is validated, written to disk and then applied to the
 * runtime. Failures of the runtime are reported as channel states and never fail an edit.
 */
export interface Configuration {
  /** Loads and applies the stored configuration. Throws an Error if the file is damaged. */
  start(): Promise<void>
  get(): Tagged<ConfigurationBody>
  /** `recordings` defaults to `replace`. */
  deploy(
    deployment: Deployment,
    ifMatch?: string,
    override?: Override,
    recordings?: RecordingPolicy,
  ): Promise<Tagged<ConfigurationBody>>
  sources: Resources<Source, SourceInput>
  sinks: Resources<Sink, SinkInput>
  pipelines: Resources<Pipeline, PipelineInput>
  connect(
    pipeline: number,
    kind: Connectable,
    ids: number[],
    ifMatch?: string,
    override?: Override,
  ): Promise<Tagged<Pipeline>>
  disconnect(pipeline: number, kind: Connectable, ids: number[], ifMatch?: string): Promise<Tagged<Pipeline>>
  /**
   * Changes something that pipelines depend on, such as the active plugins, while no edit runs, and then applies the
   * configuration to the runtime again. Rejects without applying it if `change` rejects.
   */
  runExclusive(change: (configured: ConfiguredPipelines) => Promise<void>): Promise<void>
  /** The channels that are connected now. */
  channels(): ChannelPlan[]
  /** The plan that the runtime executes. */
  plan(): Plan
}

export type ConfiguredPipelines = Pick<ConfigurationState, 'sources' | 'pipelines'>

export function createConfiguration(dependencies: ConfigurationDependencies): Configuration {
  const { catalog, runtime, admit, roots, pacing, tracer = noopTracer, log } = dependencies
  const store = createConfigurationStore(dependencies.folder)
  const mutex = new Mutex()
  let state: ConfigurationState = emptyState('')

  const getState = () => state

  const edit: Edit = (change, override) =>
    mutex.runExclusive(async () => {
      const next = assignChannelIds(await change(state))
      if (isDeepStrictEqual(next, state)) return state
      if (override !== 'capacity') admit(toPlan(state, pacing), toPlan(next, pacing))
      const span = tracer.startSpan('configuration apply', { attributes: toSpanAttributes(next) })
      await store.write(next).catch(error => {
        span?.end(error.message)
        throw error
      })
      state = next
      await applyToRuntime()
      span?.end()
      return next
    })

  const applyToRuntime = () =>
    runtime
      .apply(toPlan(state, pacing))
      .catch(error => log.error({ err: error }, 'failed to apply configuration'))

  /** Cached per state, because the configuration is read much more often than edited. */
  let cached: { state: ConfigurationState; body: Tagged<ConfigurationBody> } | undefined
  const getBody = () => {
    if (cached?.state !== state) cached = { state, body: toBody(state) }
    return cached.body
  }

  const pipelines = createResources(createPipelineDefinition(catalog), getState, edit)

  runtime.onSourceEnded(source => {
    edit(state => markEnded(state, source)).catch(error =>
      log.error({ err: error, source }, 'failed to store the end of a file source'),
    )
  })

  return {
    start: async () => {
      state = await store.read()
      await applyToRuntime()
    },
    get: getBody,
    deploy: async (deployment, ifMatch, override, recordings) =>
      toBody(
        await edit(state => {
          assertIfMatch(ifMatch, toBody(state).etag)
          return applyDeployment(state, deployment, roots, catalog, recordings)
        }, override),
      ),
    sources: createResources(createSourceDefinition(roots, catalog), getState, edit),
    sinks: createResources(createSinkDefinition(roots), getState, edit),
    pipelines,
    connect: (id, kind, ids, ifMatch, override) =>
      pipelines.change(
        id,
        ifMatch,
        (pipeline, state) => connectToPipeline(state, pipeline, kind, ids),
        override,
      ),
    disconnect: (id, kind, ids, ifMatch) =>
      pipelines.change(id, ifMatch, pipeline => disconnectFromPipeline(pipeline, kind, ids)),
    runExclusive: change =>
      mutex.runExclusive(async () => {
        await change(state)
        await applyToRuntime()
      }),
    channels: () => listConnectedChannels(state),
    plan: () => toPlan(state, pacing),
  }
}

/** The configuration as the API returns it: without secrets, but with an entity tag that depends on them. */
function toBody({ tagKey, sources, sinks, pipelines }: ConfigurationState): Tagged<ConfigurationBody> {
  return {
    value: { sources: sources.map(hideSecrets), sinks: sinks.map(hideSecrets), pipelines },
    etag: computeEtag(tagKey, { sources, sinks, pipelines }),
  }
}

function markEnded(state: ConfigurationState, id: number): ConfigurationState {
  const exists = state.sources.some(source => source.id === id)
  if (!exists || state.ended.includes(id)) return state
  return { ...state, ended: [...state.ended, id] }
}

const toSpanAttributes = ({ sources, sinks, pipelines }: ConfigurationState) => ({
  'eyrie.sources': sources.length,
  'eyrie.sinks': sinks.length,
  'eyrie.pipelines': pipelines.length,
})
