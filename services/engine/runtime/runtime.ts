import type { SourceCondition } from '@eyrie/contract/condition'
import { parseElementReference } from '@eyrie/contract/element-reference'
import type { SourceStatus } from '@eyrie/contract/media'
import type { Pipeline, PipelineElement, PipelineStatistics } from '@eyrie/contract/pipeline'
import type { ModelRequest } from '@eyrie/element/inference'
import type { MetricValues } from '@eyrie/element/metrics'
import { type Backoff, type Egress, type Log, noopTracer, type Tracer } from '@eyrie/kit'
import { Channel } from '../channels/channel.ts'
import { planStages } from '../channels/stage-plan.ts'
import type { CropInference } from '../inference/crop-inference.ts'
import type { InferenceCosts, InferencePool } from '../inference/inference.ts'
import type { DetectorObserver, InferenceClient } from '../inference/inference-client.ts'
import { MediaClient, type SourceCost } from '../media/media-client.ts'
import type { Publisher } from '../output/message-draft.ts'
import { findShapes } from '../pictures/drawing.ts'
import type { Plan, SourcePlan } from '../plan/plan.ts'
import { selectSourceConfig } from '../plan/source-keyed-config.ts'
import type { ElementHealth } from '../plugin-host/element-health.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { RunningShadow } from '../plugin-host/running-shadow.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import { createPublishPipeline, type PublishSteps } from '../publish/publish-pipeline.ts'
import { createRecordingAnnotator } from '../publish/recording-annotator.ts'
import { describeSource } from './describe-source.ts'
import { OpenSinks } from './open-sinks.ts'
import { Playlist, type PlaylistEntry } from './playlist.ts'
import { type ChannelSpec, type ComparableElement, RunningChannels } from './running-channels.ts'
import { startElementShadows } from './start-element-shadows.ts'
import { type ChannelStatistics, StatusReporter } from './status-reporter.ts'

/** Receives the measured costs of the running pipelines, in ms of CPU time per frame. */
export interface CostListener extends InferenceCosts {
  recordElement(element: string, version: string, ms: number): void
  recordDecoding(source: SourcePlan, cost: SourceCost): void
}

export interface RuntimeOptions {
  /** Base URL of the media service, such as http://127.0.0.1:8200. */
  mediaUrl: string
  internalToken: string | undefined
  /** Opens the connections of sinks. */
  egress: Egress
  /** Folder that the engine and the media service share. */
  ring: string
  /** The elements that pipelines can use. After a change of them, `apply` must be called again. */
  elements: KnownElements
  inference: Pick<InferencePool, 'workers' | 'forChannel'>
  /** Runs the models of plugins. */
  cropInference: Pick<CropInference, 'forChannel'>
  /** Runs the elements of uploaded plugins. */
  sandboxes: Sandboxes
  costs?: CostListener
  /** The steps of publishing after a message was added to the recordings. */
  publishing: Omit<PublishSteps, 'recordings' | 'log'>
  /** Called when an element has failed, and when it processes frames again. */
  onElementHealth?(health: ElementHealth): void
  /** Called when an element opens a detector. */
  observeDetector?(request: ModelRequest, client: InferenceClient): DetectorObserver
  tracer?: Tracer
  log: Log
  /** Delays between retries. */
  backoff?: Backoff
  random?: () => number
}

const REPORT_INTERVAL_MS = 1000
/**
 * Frames in progress in a channel without inference: one frame in an element, and one
 * frame that waits for it.
 */
const WINDOW_WITHOUT_INFERENCE = 2
/**
 * Frames in progress per inference worker: one frame that the worker processes, and one
 * frame that waits for it.
 */
const WINDOW_PER_WORKER = 2

const NO_STATISTICS: ChannelStatistics = {
  fps: 0,
  latency: 0,
  latencyP95: 0,
  analysed: 0,
  dropped: { overload: 0, failed: 0 },
}

/**
 * Runs a plan, which is derived from the configuration of the engine: starts and stops sources,
 * channels and sinks to match the plan, and reports their states. Parts of the plan that have not
 * changed continue to run.
 */
export class Runtime {
  readonly #options: RuntimeOptions &
    Required<Pick<RuntimeOptions, 'backoff' | 'random' | 'tracer'>>
  readonly #media: MediaClient
  readonly #publisher: Publisher
  readonly #playlist = new Playlist()
  readonly #sinks: OpenSinks
  readonly #channels: RunningChannels
  readonly #reporter: StatusReporter
  readonly #sourceEndedListeners: ((source: number) => void)[] = []
  readonly #reportTimer: NodeJS.Timeout
  #plan: Plan = { sources: [], pipelines: [], sinks: [], channels: [] }
  /** Priorities by pipeline. */
  #priorities = new Map<number, number>()

  constructor(options: RuntimeOptions) {
    this.#options = {
      backoff: { initialMs: 200, maxMs: 30_000 },
      random: Math.random,
      tracer: noopTracer,
      ...options,
    }
    const { mediaUrl, internalToken, egress, ring, publishing, log } = this.#options

    this.#media = new MediaClient({
      url: mediaUrl,
      token: internalToken,
      log,
      onStatus: ({ id }) => this.#checkEndOfFile(id),
      onCost: (source, cost) => {
        // A file that is read as fast as possible has no frame rate.
        if (source.pacing === 'realtime') options.costs?.recordDecoding(source, cost)
      },
    })

    const channelShapes = (channel: number) => findShapes(this.channelMetadata(channel))
    this.#publisher = createPublishPipeline({
      recordings: createRecordingAnnotator(this.#media, channelShapes),
      ...publishing,
      log,
    })

    this.#sinks = new OpenSinks({
      media: { url: mediaUrl, token: internalToken },
      egress,
      ring,
      streamHost: this.#media,
      channelShapes,
      log,
    })
    this.#channels = new RunningChannels({
      toComparableElement: (element, source) => this.#toComparableElement(element, source),
      create: spec => this.#createChannel(spec),
      replaceElements: (channel, spec) =>
        channel.replaceElements(this.#planElements(spec, channel)),
    })

    this.#reporter = new StatusReporter({
      channels: () => this.#channels.all(),
      publisher: this.#publisher,
      log,
    })
    this.#reportTimer = setInterval(() => this.#reportStatus(), REPORT_INTERVAL_MS)
  }

  /** Replaces the plan. */
  async apply(plan: Plan): Promise<void> {
    this.#plan = plan
    this.#priorities = new Map(plan.pipelines.map(({ id, priority }) => [id, priority]))

    this.#sinks.apply(plan.sinks)
    this.#sinks.assignChannels(plan)

    this.#playlist.apply(plan.sources)
    this.#channels.apply(plan)
    for (const channel of this.#channels.all()) channel.updateSinkViews()

    this.#media.setSources(this.#playlist.activeSources)
    for (const entry of this.#playlist.heldEntries) void this.#playWhenReady(entry)
    this.#publishStates()
  }

  pipelineStatistics(id: number): PipelineStatistics {
    return this.#reporter.pipelineStatistics(id)
  }

  channelStatistics(id: number): ChannelStatistics {
    const channel = this.#channels.get(id)
    return channel ? this.#reporter.channelStatistics(channel) : NO_STATISTICS
  }

  /** Returns the metrics that the elements of a channel measure, by element name. */
  elementMetrics(id: number): ReadonlyMap<string, MetricValues> {
    return this.#channels.get(id)?.elementMetrics ?? new Map()
  }

  /**
   * Returns the static metadata of a channel's elements, such as lines and zones, by element name.
   */
  channelMetadata(id: number): Record<string, unknown> {
    return this.#channels.get(id)?.metadata ?? {}
  }

  /** Resolves when all elements of the channel are open or the first element has failed to open. */
  async waitForChannel(id: number): Promise<void> {
    await this.#channels.get(id)?.initialized
  }

  /**
   * Runs the elements of another version of a plugin in shadow, on the channels that follow its
   * active version. `pipelines` have the elements as they are with that version.
   */
  startShadow(
    plugin: Pick<KnownPlugin, 'name' | 'version' | 'elements'>,
    pipelines: readonly Pick<Pipeline, 'id' | 'elements'>[],
  ): RunningShadow {
    const channels = this.#channels.all()
    const tallies = channels.flatMap(channel => {
      const current =
        this.#plan.pipelines.find(({ id }) => id === channel.plan.pipeline)?.elements ?? []
      const next = pipelines.find(({ id }) => id === channel.plan.pipeline)?.elements ?? current
      return startElementShadows({ channel, plugin, current, next }, this.#options)
    })
    const end = () => {
      for (const channel of channels) channel.endShadows(plugin.name)
    }
    return { compare: () => tallies.map(tally => tally.summarize()), end }
  }

  /** Opens failed elements of a channel at once, without waiting for the next attempt. */
  retryChannel(id: number): void {
    this.#channels.get(id)?.retry()
  }

  sourceStatus(id: number): SourceStatus | undefined {
    return this.#playlist.findEntry(id)?.endStatus ?? this.#media.status(id)
  }

  /** Returns why the media service is unreachable; undefined while it is connected. */
  mediaOutage(): string | undefined {
    return this.#media.outage
  }

  /** Returns the condition of all sources that were not played to their end. */
  sourceConditions(): SourceCondition[] {
    const played = this.#plan.sources.filter(({ id }) => !this.#playlist.findEntry(id)?.endStatus)
    return played.map(plan => {
      const channels = this.#channels.all().filter(channel => channel.plan.source === plan.id)
      const rates = channels.map(channel => this.#reporter.channelStatistics(channel).fps)
      return describeSource(plan, this.#media, rates)
    })
  }

  /**
   * Returns the address at which the media service serves streams; undefined while it is
   * disconnected.
   */
  streamServer() {
    return this.#media.server
  }

  /** Calls `listener` when a file was played to its end. */
  onSourceEnded(listener: (source: number) => void): void {
    this.#sourceEndedListeners.push(listener)
  }

  async stop(): Promise<void> {
    clearInterval(this.#reportTimer)
    this.#channels.stop()
    this.#media.stop()
    await this.#sinks.close()
  }

  /** Plans the elements of a channel. Only opened elements call `channel`. */
  #planElements(
    { plan, source, elements }: ChannelSpec,
    channel: Pick<Channel, 'statistics' | 'elementMetrics' | 'extraViews' | 'updateFeed'>,
  ) {
    const { elements: known, inference, cropInference, sandboxes } = this.#options
    const stages = planStages(elements, {
      channel: plan.id,
      source: source.id,
      sandboxes,
      elements: known,
      createInference: findRing => {
        const client: InferenceClient = {
          channel: plan.id,
          pacing: source.pacing,
          // The priority may change while the channel runs.
          priority: () => this.#priorities.get(plan.pipeline) ?? 0,
          onYield: () => channel.statistics.recordYield(),
          findRing,
          requestView: view => channel.extraViews.request(view),
          onViewChange: () => channel.updateFeed(),
          observe: request => this.#options.observeDetector?.(request, client),
        }
        return {
          inference: inference.forChannel(client),
          cropModels: cropInference.forChannel(client),
        }
      },
      onCost: (element, version, ms) => this.#options.costs?.recordElement(element, version, ms),
      onMetrics: (element, metrics) => channel.elementMetrics.set(element, metrics),
      onHealth: health => this.#options.onElementHealth?.(health),
      log: this.#options.log.child({ channel: plan.id }),
    })

    const usesInference = elements.some(({ name }) =>
      known.get(name)?.manifest.needs.includes('inference'),
    )
    const window = usesInference ? WINDOW_PER_WORKER * inference.workers : WINDOW_WITHOUT_INFERENCE
    return { stages, window }
  }

  #createChannel(spec: ChannelSpec): Channel {
    const { plan, source } = spec
    const { tracer, backoff, random } = this.#options
    return new Channel({
      plan,
      pacing: source.pacing,
      planElements: channel => this.#planElements(spec, channel),
      media: this.#media,
      sourceStatus: () => this.sourceStatus(source.id),
      sinks: () => this.#findSinks(plan.pipeline, source.id),
      publisher: this.#publisher,
      tracer,
      log: this.#options.log.child({ channel: plan.id }),
      backoff,
      random,
      onChange: () => {
        this.#checkEndOfFile(source.id)
        // The pipeline of a channel that is being removed may no longer exist.
        if (this.#priorities.has(plan.pipeline)) this.#reporter.publishPipelineState(plan.pipeline)
      },
    })
  }

  #toComparableElement(
    { name: reference, args, config }: PipelineElement,
    source: number,
  ): ComparableElement {
    const { name } = parseElementReference(reference)
    const { entry, revision, isKeyedBySource } = this.#options.elements.get(reference) ?? {}
    // The keys are omitted, because the other sources in a key such as `1,2` do not affect this
    // source.
    const sourceConfig =
      config && isKeyedBySource ? Object.values(selectSourceConfig(config, source)) : config
    return { name, settings: { args, config: sourceConfig }, code: { entry, revision } }
  }

  #findSinks(pipeline: number, source: number) {
    const ids = this.#plan.pipelines.find(({ id }) => id === pipeline)?.sinks ?? []
    return this.#sinks.findAccepting(ids, source)
  }

  /**
   * Starts a file when all of its channels are initialized. A file without channels is not played.
   */
  async #playWhenReady(entry: PlaylistEntry): Promise<void> {
    const channels = this.#channels.all().filter(({ plan }) => plan.source === entry.plan.id)
    if (channels.length === 0) return
    await Promise.all(channels.map(({ initialized }) => initialized))
    entry.isHeld = false
    this.#media.setSources(this.#playlist.activeSources)
  }

  /**
   * A file has ended when the media service has reached the end and all channels have
   * processed the last frame.
   */
  #checkEndOfFile(source: number): void {
    const entry = this.#playlist.findEntry(source)
    const status = this.#media.status(source)
    if (entry?.plan.type !== 'file' || entry.endStatus || status?.state !== 'ended') return

    const isAnalysing = this.#channels
      .all()
      .some(({ plan, isBusy }) => plan.source === source && isBusy)
    if (isAnalysing) return

    entry.endStatus = status
    this.#media.setSources(this.#playlist.activeSources)
    this.#publishStates()
    for (const listener of this.#sourceEndedListeners) listener(source)
  }

  #reportStatus(): void {
    for (const { id } of this.#plan.sources) this.#checkEndOfFile(id)
    this.#publishStates()
    this.#reporter.publishStatistics()
  }

  #publishStates(): void {
    this.#reporter.publishStates(this.#plan.pipelines.map(({ id }) => id))
  }
}
