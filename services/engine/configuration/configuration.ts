import { isDeepStrictEqual } from 'node:util'
import type {
  Configuration as Body,
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
import type { Catalog } from '../catalog/catalog.ts'
import type { ChannelPlan, Plan } from '../plan/plan.ts'
import { hideSecrets } from './checks/address-secrets.ts'
import type { Roots } from './checks/addresses.ts'
import { emptyState, type State } from './configuration-state.ts'
import { createStore } from './configuration-store.ts'
import { deploy, type Recordings } from './deploy.ts'
import { etagOf, requireMatch, type Tagged } from './etag.ts'
import { type Connectable, connected, disconnected } from './pipeline-connections.ts'
import { pipelineKind } from './pipeline-kind.ts'
import { createResources, type Edit, type Resources } from './resources.ts'
import { connectedChannels, planOf, withChannels } from './runtime-plan.ts'
import { sinkKind } from './sink-kind.ts'
import { sourceKind } from './source-kind.ts'

/** Runs what is configured. */
export interface PlanRunner {
  apply(plan: Plan): Promise<void>
  /** `listener` is called when a source of type `file` has played to its end. */
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
  /** Throws EyrieError `capacity` if the machine cannot do what the second plan adds to the first. */
  admit(before: Plan, after: Plan): void
  log: Log
}

/**
 * The one configuration of the engine. Edits come one after the other; each is checked whole, then kept on disk, then
 * handed to the runtime, whose troubles show as states and never fail an edit.
 */
export interface Configuration {
  /** Restores what was configured. Throws an Error if the file is damaged. */
  start(): Promise<void>
  get(): Tagged<Body>
  /** `recordings`: whether it says which sources are recorded (default), or keeps what is stored. */
  deploy(
    deployment: Deployment,
    ifMatch?: string,
    override?: Override,
    recordings?: Recordings,
  ): Promise<Tagged<Body>>
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
   * Changes what pipelines are made of: after the edits before it and before those after it. What runs is then made
   * equal to what is configured. Rejects as `change` does; then nothing has happened.
   */
  between(change: (configured: Configured) => Promise<void>): Promise<void>
  /** The channels that are connected now. */
  channels(): ChannelPlan[]
  /** What the runtime shall do. */
  plan(): Plan
}

/** What is configured, for those who look at what pipelines need. */
export type Configured = Pick<State, 'sources' | 'pipelines'>

export function createConfiguration(dependencies: ConfigurationDependencies): Configuration {
  const { catalog, runtime, admit, roots, pacing, tracer = noopTracer, log } = dependencies
  const store = createStore(dependencies.folder)
  let state: State = emptyState('')
  let last: Promise<unknown> = Promise.resolve()

  const current = () => state
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
  const edit: Edit = (change, override) =>
    inTurn(async () => {
      const next = withChannels(await change(state))
      if (isDeepStrictEqual(next, state)) return state
      if (override !== 'capacity') admit(planOf(state, pacing), planOf(next, pacing))
      const span = tracer.startSpan('configuration apply', { attributes: sizeOf(next) })
      await store.write(next).catch(error => {
        span?.end(error.message)
        throw error
      })
      state = next
      await apply()
      span?.end()
      return next
    })
  const apply = () =>
    runtime
      .apply(planOf(state, pacing))
      .catch(error => log.error({ err: error }, 'the configuration did not start'))

  const body = (state: State): Tagged<Body> => {
    const { sources, sinks, pipelines } = state
    return {
      value: { sources: sources.map(hideSecrets), sinks: sinks.map(hideSecrets), pipelines },
      etag: etagOf(state.tagKey, { sources, sinks, pipelines }),
    }
  }

  /** Made once for each state: the configuration is read far more often than it is edited. */
  let shown: { state: State; body: Tagged<Body> } | undefined
  const show = () => {
    if (shown?.state !== state) shown = { state, body: body(state) }
    return shown.body
  }

  const pipelines = createResources(pipelineKind(catalog), current, edit)
  runtime.onSourceEnded(id => {
    edit(state =>
      state.sources.some(source => source.id === id) && !state.ended.includes(id)
        ? { ...state, ended: [...state.ended, id] }
        : state,
    ).catch(error => log.error({ err: error, source: id }, 'the end of a file could not be kept'))
  })

  return {
    start: async () => {
      state = await store.read()
      await apply()
    },
    get: show,
    deploy: async (deployment, ifMatch, override, recordings) =>
      body(
        await edit(state => {
          requireMatch(ifMatch, body(state).etag)
          return deploy(state, deployment, roots, catalog, recordings)
        }, override),
      ),
    sources: createResources(sourceKind(roots, catalog), current, edit),
    sinks: createResources(sinkKind(roots), current, edit),
    pipelines,
    connect: (id, kind, ids, ifMatch, override) =>
      pipelines.change(id, ifMatch, (pipeline, state) => connected(state, pipeline, kind, ids), override),
    disconnect: (id, kind, ids, ifMatch) =>
      pipelines.change(id, ifMatch, pipeline => disconnected(pipeline, kind, ids)),
    between: change =>
      inTurn(async () => {
        await change(state)
        await apply()
      }),
    channels: () => connectedChannels(state),
    plan: () => planOf(state, pacing),
  }
}

const sizeOf = ({ sources, sinks, pipelines }: State) => ({
  'eyrie.sources': sources.length,
  'eyrie.sinks': sinks.length,
  'eyrie.pipelines': pipelines.length,
})
