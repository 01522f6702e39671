import { isDeepStrictEqual } from 'node:util'
import type {
  Configuration as ConfigurationBody,
  Deployment,
  Pacing,
  Pipeline,
  PipelineInput,
  Sink,
  SinkInput,
  Source,
  SourceInput,
} from '@eyrie/contract'
import { assertIfMatch } from '@eyrie/kit/if-match'
import type { Log } from '@eyrie/kit/log'
import type { Secrets } from '@eyrie/kit/secrets'
import { noopTracer, type Tracer } from '@eyrie/kit/tracer'
import { Mutex } from 'async-mutex'
import type { Catalog } from '../catalog/catalog.ts'
import type { ChannelPlan, Plan } from '../plan/plan.ts'
import { hideSecrets } from './checks/address-secrets.ts'
import type { Roots } from './checks/addresses.ts'
import { type ConfigurationState, emptyState } from './configuration-state.ts'
import { createConfigurationStore } from './configuration-store.ts'
import { applyDeployment, type RecordingPolicy } from './deployment.ts'
import { computeEtag, type WithEtag } from './etag.ts'
import {
  type Connections,
  connectToPipeline,
  disconnectFromPipeline,
} from './pipeline-connections.ts'
import { createPipelineDefinition } from './pipeline-definition.ts'
import { createResources, type Edit, type EditOptions, type Resources } from './resources.ts'
import { assignChannelIds, listConnectedChannels, toPlan } from './runtime-plan.ts'
import { createSinkDefinition } from './sink-definition.ts'
import { createSourceDefinition } from './source-definition.ts'

/**
 * The configuration of the engine: its sources, sinks and pipelines. Edits run one at a time. Each
 * edit is validated, written to disk and then applied to the runtime. An edit does not fail if the
 * runtime cannot apply it: failures are reported as states of channels.
 */
export interface Configuration {
  /** Reads the stored configuration and applies it. Throws an Error if the file is damaged. */
  start(): Promise<void>
  get(): WithEtag<ConfigurationBody>
  /** Replaces the whole configuration, see `applyDeployment`. */
  deploy(deployment: Deployment, options?: DeployOptions): Promise<WithEtag<ConfigurationBody>>
  sources: Resources<Source, SourceInput>
  sinks: Resources<Sink, SinkInput>
  pipelines: Resources<Pipeline, PipelineInput>
  /** Adds sources or sinks to a pipeline. */
  connect(
    pipeline: number,
    connections: Connections,
    options?: EditOptions,
  ): Promise<WithEtag<Pipeline>>
  /** Removes sources or sinks from a pipeline. */
  disconnect(
    pipeline: number,
    connections: Connections,
    options?: EditOptions,
  ): Promise<WithEtag<Pipeline>>
  /**
   * Runs `change` while no edit runs, then applies the configuration again. For changes outside
   * the configuration that affect pipelines, such as activating a plugin. `change` may return
   * other pipelines, which are stored and applied then. Rejects without applying the configuration
   * if `change` rejects.
   */
  runExclusive(
    change: (configured: ConfiguredPipelines) => Promise<Pipeline[] | undefined>,
  ): Promise<void>
  /** The channels whose source and pipeline are connected. */
  channels(): ChannelPlan[]
  /** The configuration as the runtime executes it. */
  plan(): Plan
}

/** The part of the engine that runs the channels of a plan. */
export interface PlanRunner {
  apply(plan: Plan): Promise<void>
  /** Calls the listener when a source of type `file` has been played to the end. */
  onSourceEnded(listener: (source: number) => void): void
}

export interface ConfigurationDependencies {
  /** Folder of the configuration file. */
  folder: string
  /** Encrypts passwords and tokens in the file. */
  secrets: Secrets
  roots: Roots
  pacing: Pacing
  catalog: Catalog
  runtime: PlanRunner
  tracer?: Tracer
  /**
   * Throws `EyrieError` (`capacity`) if the machine lacks the capacity for the channels of `after`.
   */
  checkCapacity(before: Plan, after: Plan): void
  log: Log
}

export interface DeployOptions extends EditOptions {
  /** Defaults to `replace`. */
  recordingPolicy?: RecordingPolicy | undefined
}

/** The part of the configuration that depends on plugins. */
export type ConfiguredPipelines = Pick<ConfigurationState, 'sources' | 'pipelines'>

export function createConfiguration(dependencies: ConfigurationDependencies): Configuration {
  const { catalog, runtime, checkCapacity, roots, pacing, tracer = noopTracer, log } = dependencies
  const store = createConfigurationStore(dependencies.folder, dependencies.secrets)
  const mutex = new Mutex()
  let state: ConfigurationState = emptyState('')

  const getState = () => state

  const applyToRuntime = () =>
    runtime
      .apply(toPlan(state, pacing))
      .catch(error => log.error({ err: error }, 'failed to apply configuration'))

  /** Writes the new state to disk and applies it to the runtime. */
  async function commit(next: ConfigurationState): Promise<void> {
    const span = tracer.startSpan('configuration apply', { attributes: toSpanAttributes(next) })
    try {
      await store.write(next)
    } catch (error) {
      span?.end((error as Error).message)
      throw error
    }
    state = next
    await applyToRuntime()
    span?.end()
  }

  /** Runs one edit. An edit that changes nothing is not committed. */
  const edit: Edit = (toNext, override) =>
    mutex.runExclusive(async () => {
      const next = assignChannelIds(await toNext(state))
      if (isDeepStrictEqual(next, state)) return state
      if (override !== 'capacity') checkCapacity(toPlan(state, pacing), toPlan(next, pacing))
      await commit(next)
      return next
    })

  /**
   * The body of the current state. It is cached, because the configuration is read far
   * more often than edited.
   */
  let cached: { state: ConfigurationState; body: WithEtag<ConfigurationBody> } | undefined
  const getBody = () => {
    if (cached?.state !== state) cached = { state, body: toBody(state) }
    return cached.body
  }

  const sources = createResources(createSourceDefinition(roots, catalog), getState, edit)
  const sinks = createResources(createSinkDefinition(roots), getState, edit)
  const pipelines = createResources(createPipelineDefinition(catalog), getState, edit)

  runtime.onSourceEnded(source => {
    edit(state => markEnded(state, source)).catch(error =>
      log.error({ err: error, source }, 'failed to mark file source as ended'),
    )
  })

  return {
    start: async () => {
      state = await store.read()
      await applyToRuntime()
    },
    get: getBody,
    deploy: async (deployment, { ifMatch, override, recordingPolicy } = {}) => {
      const deployed = await edit(current => {
        assertIfMatch(ifMatch, toBody(current).etag)
        return applyDeployment(current, deployment, { roots, catalog, recordingPolicy })
      }, override)
      return toBody(deployed)
    },
    sources,
    sinks,
    pipelines,
    connect: (id, connections, options) =>
      pipelines.updateStored(
        id,
        (pipeline, current) => connectToPipeline(current, pipeline, connections),
        options,
      ),
    disconnect: (id, connections, options) =>
      pipelines.updateStored(
        id,
        pipeline => disconnectFromPipeline(pipeline, connections),
        options,
      ),
    runExclusive: change =>
      mutex.runExclusive(async () => {
        const pipelines = await change(state)
        if (pipelines) await commit({ ...state, pipelines })
        else await applyToRuntime()
      }),
    channels: () => listConnectedChannels(state),
    plan: () => toPlan(state, pacing),
  }
}

/**
 * The configuration as the API returns it: secrets are hidden, but changes of secrets
 * change the entity tag.
 */
function toBody({
  tagKey,
  sources,
  sinks,
  pipelines,
}: ConfigurationState): WithEtag<ConfigurationBody> {
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
