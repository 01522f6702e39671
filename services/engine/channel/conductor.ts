import type { SourceStatus } from '@eyrie/contract/media'
import type { PipelineElement, PipelineStatistics } from '@eyrie/contract/pipeline'
import { type Backoff, type Log, noopTracer, type Tracer } from '@eyrie/kit'
import { shapesOf } from '../graph/shapes.ts'
import { ownConfig } from '../graph/source-config.ts'
import { planStages } from '../graph/stages.ts'
import { Media } from '../media/media.ts'
import { type Entry, Playlist } from '../media/playlist.ts'
import { tellingRecordings } from '../media/recorded.ts'
import type { KnownElement } from '../plugin-host/plugin.ts'
import type { ChannelStatistics, CostListener, InferencePool, Plan, Publisher, Runtime } from '../ports.ts'
import { Sinks } from '../sinks/sinks.ts'
import { Channel } from './channel.ts'
import { type ChannelIdentity, Channels } from './channels.ts'
import { Reporter } from './reporter.ts'

export interface ConductorOptions {
  mediaUrl: string
  internalToken: string | undefined
  /** Folder that engine and media share. */
  ring: string
  elements: ReadonlyMap<string, KnownElement>
  inference: Pick<InferencePool, 'workers' | 'forChannel'>
  costs?: CostListener
  publisher: Publisher
  tracer?: Tracer
  log: Log
  backoff?: Backoff
  random?: () => number
}

const TICK_MS = 1000
/** Frames in flight where no inference worker is to be kept busy: one inside, one waiting at the door. */
const IN_TURN = 2

const nothingYet: ChannelStatistics = {
  fps: 0,
  latency: 0,
  latencyP95: 0,
  analysed: 0,
  dropped: { lacking: 0, failed: 0 },
}

/** Keeps media, channels and sinks as the plan wants them, and tells how they are. */
export class Conductor implements Runtime {
  readonly #options: ConductorOptions & Required<Pick<ConductorOptions, 'backoff' | 'random' | 'tracer'>>
  readonly #media: Media
  readonly #publisher: Publisher
  readonly #playlist = new Playlist()
  readonly #sinks: Sinks
  readonly #channels: Channels
  readonly #reporter: Reporter
  readonly #endListeners: ((source: number) => void)[] = []
  readonly #tick: NodeJS.Timeout
  #plan: Plan = { sources: [], pipelines: [], sinks: [], channels: [] }
  #priorities = new Map<number, number>()

  constructor(options: ConductorOptions) {
    this.#options = {
      backoff: { initialMs: 200, maxMs: 30_000 },
      random: Math.random,
      tracer: noopTracer,
      ...options,
    }
    const { mediaUrl, internalToken, ring, publisher, log } = this.#options
    this.#media = new Media({
      url: mediaUrl,
      token: internalToken,
      log,
      onStatus: ({ id }) => this.#settleEnd(id),
      onCost: (source, cost) => {
        // As fast as it could be read is no rate.
        if (source.pacing === 'realtime') options.costs?.decoded(source, cost)
      },
    })
    const shapes = (channel: number) => shapesOf(this.channelMetadata(channel))
    this.#publisher = tellingRecordings(publisher, this.#media, shapes)
    this.#sinks = new Sinks({
      media: { url: mediaUrl, token: internalToken },
      ring,
      hosting: this.#media,
      shapesOf: shapes,
      log,
    })
    this.#channels = new Channels({
      identify: (element, source) => this.#identify(element, source),
      create: identity => this.#createChannel(identity),
    })
    this.#reporter = new Reporter({ channels: () => this.#channels.all(), publisher, log })
    this.#tick = setInterval(() => this.#report(), TICK_MS)
  }

  async apply(plan: Plan): Promise<void> {
    this.#plan = plan
    this.#priorities = new Map(plan.pipelines.map(({ id, priority }) => [id, priority]))
    this.#sinks.apply(plan.sinks)
    this.#sinks.serve(plan)
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
    return channel ? this.#reporter.channel(channel) : nothingYet
  }

  channelMetadata(id: number): Record<string, unknown> {
    return this.#channels.get(id)?.metadata ?? {}
  }

  async channelSettled(id: number): Promise<void> {
    await this.#channels.get(id)?.settled
  }

  sourceStatus(id: number): SourceStatus | undefined {
    return this.#playlist.entry(id)?.end ?? this.#media.status(id)
  }

  streamServer() {
    return this.#media.server
  }

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
      window: infers ? 2 * inference.workers : IN_TURN,
      media: this.#media,
      sourceStatus: () => this.sourceStatus(source.id),
      sinks: () => this.#sinksOf(plan.pipeline, source.id),
      publisher: this.#publisher,
      tracer,
      log,
      backoff,
      random,
      onChange: () => {
        this.#settleEnd(source.id)
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
    return this.#sinks.of(ids, source)
  }

  /** A file is played once it has channels and they are ready for its first frame. */
  async #release(entry: Entry): Promise<void> {
    const waiting = this.#channels.all().filter(({ plan }) => plan.source === entry.plan.id)
    if (waiting.length === 0) return
    await Promise.all(waiting.map(({ settled }) => settled))
    entry.held = false
    this.#media.want(this.#playlist.wanted)
  }

  /** A file has ended when its last frame has been through its channels. */
  #settleEnd(source: number): void {
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
    for (const { id } of this.#plan.sources) this.#settleEnd(id)
    this.#announce()
    this.#reporter.publishStatistics()
  }

  #announce(): void {
    this.#reporter.announce(this.#plan.pipelines.map(({ id }) => id))
  }
}
