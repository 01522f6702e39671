import type { SourceStatus } from '@eyrie/contract/media'
import type { PipelineElement, PipelineStatistics } from '@eyrie/contract/pipeline'
import { type Backoff, type Log, noopTracer, type Tracer } from '@eyrie/kit'
import { Channel } from '../channels/channel.ts'
import { planStages } from '../channels/stage-plan.ts'
import type { InferenceCosts, InferencePool } from '../inference/inference.ts'
import { MediaClient, type SourceCost } from '../media/media-client.ts'
import type { Publisher } from '../output/message-draft.ts'
import { findShapes } from '../pictures/drawing.ts'
import type { Plan, SourcePlan } from '../plan/plan.ts'
import { ownConfig } from '../plan/source-keyed-config.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { createPublishPipeline, type PublishSteps } from '../publish/publish-pipeline.ts'
import { createRecordingTap } from '../publish/recording-tap.ts'
import { OpenSinks } from './open-sinks.ts'
import { Playlist, type PlaylistEntry } from './playlist.ts'
import { type ChannelStatistics, Reporter } from './reporter.ts'
import { type ChannelIdentity, RunningChannels } from './running-channels.ts'

/** Receives measured costs, in ms of CPU time per frame. */
export interface CostListener extends InferenceCosts {
  processed(element: string, version: string, ms: number): void
  decoded(source: SourcePlan, cost: SourceCost): void
}

export interface RuntimeOptions {
  /** Where media listens, such as http://127.0.0.1:8200. */
  mediaUrl: string
  internalToken: string | undefined
  /** Folder that engine and media share. */
  ring: string
  /** The elements that pipelines can be made of. Whoever changes the map calls `apply` again. */
  elements: ReadonlyMap<string, KnownElement>
  inference: Pick<InferencePool, 'workers' | 'forChannel'>
  costs?: CostListener
  /** The steps that published messages pass after the recordings of media. */
  publishing: Omit<PublishSteps, 'recordings'>
  tracer?: Tracer
  log: Log
  /** Delays between retries. */
  backoff?: Backoff
  random?: () => number
}

const TICK_MS = 1000
/** Frames in flight in a channel without inference: one inside an element, one waiting for it. */
const WINDOW_WITHOUT_INFERENCE = 2

const NO_STATISTICS: ChannelStatistics = {
  fps: 0,
  latency: 0,
  latencyP95: 0,
  analysed: 0,
  dropped: { lacking: 0, failed: 0 },
}

/** Makes media, channels and sinks equal to a plan without touching what does not change, and reports their states. */
export class Runtime {
  readonly #options: RuntimeOptions & Required<Pick<RuntimeOptions, 'backoff' | 'random' | 'tracer'>>
  readonly #media: MediaClient
  readonly #publisher: Publisher
  readonly #playlist = new Playlist()
  readonly #sinks: OpenSinks
  readonly #channels: RunningChannels
  readonly #reporter: Reporter
  readonly #endListeners: ((source: number) => void)[] = []
  readonly #tick: NodeJS.Timeout
  #plan: Plan = { sources: [], pipelines: [], sinks: [], channels: [] }
  #priorities = new Map<number, number>()

  constructor(options: RuntimeOptions) {
    this.#options = {
      backoff: { initialMs: 200, maxMs: 30_000 },
      random: Math.random,
      tracer: noopTracer,
      ...options,
    }
    const { mediaUrl, internalToken, ring, publishing, log } = this.#options
    this.#media = new MediaClient({
      url: mediaUrl,
      token: internalToken,
      log,
      onStatus: ({ id }) => this.#endFile(id),
      onCost: (source, cost) => {
        // A file that is read as fast as possible has no frame rate.
        if (source.pacing === 'realtime') options.costs?.decoded(source, cost)
      },
    })
    const channelShapes = (channel: number) => findShapes(this.channelMetadata(channel))
    this.#publisher = createPublishPipeline({
      recordings: createRecordingTap(this.#media, channelShapes),
      ...publishing,
    })
    this.#sinks = new OpenSinks({
      media: { url: mediaUrl, token: internalToken },
      ring,
      hosting: this.#media,
      channelShapes,
      log,
    })
    this.#channels = new RunningChannels({
      identify: (element, source) => this.#identify(element, source),
      create: identity => this.#createChannel(identity),
    })
    this.#reporter = new Reporter({
      channels: () => this.#channels.all(),
      publisher: this.#publisher,
      log,
    })
    this.#tick = setInterval(() => this.#report(), TICK_MS)
  }

  async apply(plan: Plan): Promise<void> {
    this.#plan = plan
    this.#priorities = new Map(plan.pipelines.map(({ id, priority }) => [id, priority]))
    this.#sinks.apply(plan.sinks)
    this.#sinks.assignChannels(plan)
    this.#playlist.apply(plan.sources)
    this.#channels.apply(plan)
    for (const channel of this.#channels.all()) channel.accompany()
    this.#media.want(this.#playlist.wanted)
    for (const entry of this.#playlist.held) void this.#release(entry)
    this.#announce()
  }

  pipelineStatistics(id: number): PipelineStatistics {
    return this.#reporter.pipeline(id)
  }

  channelStatistics(id: number): ChannelStatistics {
    const channel = this.#channels.get(id)
    return channel ? this.#reporter.channel(channel) : NO_STATISTICS
  }

  /** Lines, zones and other static metadata of the open elements of a channel, by element name. */
  channelMetadata(id: number): Record<string, unknown> {
    return this.#channels.get(id)?.metadata ?? {}
  }

  /** Resolves when the elements of the channel are open, or the first failed to open. */
  async channelSettled(id: number): Promise<void> {
    await this.#channels.get(id)?.settled
  }

  sourceStatus(id: number): SourceStatus | undefined {
    return this.#playlist.entry(id)?.end ?? this.#media.status(id)
  }

  /** Where media serves streams; undefined while media is disconnected. */
  streamServer() {
    return this.#media.server
  }

  /** `listener` is called when a source of type `file` has played to its end. */
  onSourceEnded(listener: (source: number) => void): void {
    this.#endListeners.push(listener)
  }

  async stop(): Promise<void> {
    clearInterval(this.#tick)
    this.#channels.stop()
    this.#media.stop()
    await this.#sinks.close()
  }

  #createChannel({ plan, source, elements }: ChannelIdentity): Channel {
    const { elements: known, inference, tracer, backoff, random } = this.#options
    const log = this.#options.log.child({ channel: plan.id })
    const stages = planStages(elements, {
      source: source.id,
      elements: known,
      inferenceFor: ringOf =>
        inference.forChannel({
          channel: plan.id,
          pacing: source.pacing,
          // Asked each time: a channel is not made anew for another priority.
          priority: () => this.#priorities.get(plan.pipeline) ?? 0,
          onYield: () => channel.statistics.yielded(),
          ringOf,
        }),
      onCost: (element, version, ms) => this.#options.costs?.processed(element, version, ms),
      log,
    })
    const infers = elements.some(({ name }) => known.get(name)?.manifest.needs.includes('inference'))
    const channel = new Channel({
      plan,
      pacing: source.pacing,
      stages,
      window: infers ? 2 * inference.workers : WINDOW_WITHOUT_INFERENCE,
      media: this.#media,
      sourceStatus: () => this.sourceStatus(source.id),
      sinks: () => this.#sinksOf(plan.pipeline, source.id),
      publisher: this.#publisher,
      tracer,
      log,
      backoff,
      random,
      onChange: () => {
        this.#endFile(source.id)
        // Of those that are leaving, the pipeline may be gone.
        if (this.#priorities.has(plan.pipeline)) this.#reporter.announceOne(plan.pipeline)
      },
    })
    return channel
  }

  #identify({ name, args, config }: PipelineElement, source: number): unknown {
    const known = this.#options.elements.get(name)
    // Which ids stand beside this one in a key says nothing to this source.
    const own = config && known?.keysAreSources ? Object.values(ownConfig(config, source)) : config
    return { name, args, config: own, entry: known?.entry }
  }

  #sinksOf(pipeline: number, source: number) {
    const ids = this.#plan.pipelines.find(({ id }) => id === pipeline)?.sinks ?? []
    return this.#sinks.accepting(ids, source)
  }

  /** A file is played once it has channels and they are ready for its first frame. */
  async #release(entry: PlaylistEntry): Promise<void> {
    const waiting = this.#channels.all().filter(({ plan }) => plan.source === entry.plan.id)
    if (waiting.length === 0) return
    await Promise.all(waiting.map(({ settled }) => settled))
    entry.held = false
    this.#media.want(this.#playlist.wanted)
  }

  /** A file has ended when its last frame has been through its channels. */
  #endFile(source: number): void {
    const entry = this.#playlist.entry(source)
    const status = this.#media.status(source)
    if (entry?.plan.type !== 'file' || entry.end || status?.state !== 'ended') return
    if (this.#channels.all().some(({ plan, busy }) => plan.source === source && busy)) return
    entry.end = status
    this.#media.want(this.#playlist.wanted)
    this.#announce()
    for (const listener of this.#endListeners) listener(source)
  }

  #report(): void {
    for (const { id } of this.#plan.sources) this.#endFile(id)
    this.#announce()
    this.#reporter.publishStatistics()
  }

  #announce(): void {
    this.#reporter.announce(this.#plan.pipelines.map(({ id }) => id))
  }
}
