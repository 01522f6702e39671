import type { Pacing, SourceStatus } from '@eyrie/contract/media'
import type { Backoff, Log, Span, Tracer } from '@eyrie/kit'
import type { FrameStamp } from '../frames/ring-reader.ts'
import { channelViews, distinctViews, viewKey } from '../frames/views.ts'
import type { Feed } from '../media/feed.ts'
import type { Found } from '../media/findings.ts'
import type { MediaClient } from '../media/media-client.ts'
import type { ChannelPlan } from '../plan/plan.ts'
import { Chain } from './chain.ts'
import { channelState, type State } from './channel-state.ts'
import { FrameStatistics } from './frame-statistics.ts'
import { FrameTraces } from './frame-traces.ts'
import { Lane } from './lane.ts'
import { Publication, type PublicationOptions } from './publication.ts'
import type { StagePlan } from './stage-plan.ts'

export interface ChannelOptions extends Omit<PublicationOptions, 'ringOf'> {
  pacing: Pacing
  stages: readonly StagePlan[]
  /** How many frames may be on their way through the elements. */
  window: number
  media: MediaClient
  tracer: Tracer
  log: Log
  backoff: Backoff
  random: () => number
  sourceStatus(): SourceStatus | undefined
  /** Called when `state` may be another. */
  onChange(): void
}

/** How many frames a live channel may fall behind for the pictures of its sinks. */
const PATIENCE = 3

/**
 * A pipeline at work on a source. With pacing `realtime` the newest frame wins and what could not be kept up with is
 * dropped; with `all` every frame is analysed, and media goes on as the channel does.
 */
export class Channel {
  readonly plan: ChannelPlan
  readonly statistics = new FrameStatistics()
  readonly #options: ChannelOptions
  readonly #chain: Chain
  readonly #publication: Publication
  readonly #traces: FrameTraces
  readonly #output = new Lane()
  #feed: Feed | undefined
  #views = ''
  /** Number of the newest frame that was admitted or skipped; undefined before the first of a ring. */
  #last: number | undefined
  #seen = 0
  #seenAt = 0
  #inFlight = new Set<number>()
  #begun = false
  #stopped = false

  constructor(options: ChannelOptions) {
    this.plan = options.plan
    this.#options = options
    this.#publication = new Publication({ ...options, ringOf: view => this.#feed?.ringOf(view) })
    this.#traces = new FrameTraces(options.tracer, options.plan)
    this.#chain = new Chain(options.stages, {
      ringOf: view => this.#feed?.ringOf(view),
      backoff: options.backoff,
      random: options.random,
      onChange: () => this.#attach(),
    })
  }

  /** Resolves when the elements are at work, or the first has failed to start. */
  get settled(): Promise<void> {
    return this.#chain.settled
  }

  /** Lines, zones and the like, by the names of the elements that show them. */
  get metadata(): Record<string, unknown> {
    return this.#chain.metadata
  }

  get busy(): boolean {
    const isBehind = this.#feed !== undefined && this.#last !== undefined && this.#feed.ready > this.#last
    return isBehind || this.#inFlight.size > 0
  }

  get state(): State {
    const { media, sinks, sourceStatus } = this.#options
    return channelState({
      failure: this.#chain.failure ?? this.#feed?.failure,
      absence: media.absence,
      source: sourceStatus(),
      begun: this.#begun,
      busy: this.busy,
      lacking: this.statistics.lacking,
      yielding: this.statistics.yielding,
      sinkFailure: sinks().find(({ failure }) => failure)?.failure ?? this.#feed?.pictureFailure,
    })
  }

  /** Asks media for the pictures that the sinks want, which may be others than before. */
  accompany(): void {
    const views = distinctViews(this.#options.sinks().flatMap(({ view }) => view ?? []))
    this.#feed?.accompany(views, this.#options.pacing === 'all' ? Number.POSITIVE_INFINITY : PATIENCE)
  }

  /**
   * Ends what the channel does. In real time the pictures that it looked at go on until it is stopped: to whoever takes its
   * place and looks at the same, they would come again with the next keyframe only.
   */
  end(): void {
    this.#stopped = true
    this.#chain.close()
    if (this.#options.pacing === 'all') this.#feed?.close()
  }

  stop(): void {
    this.end()
    this.#feed?.close()
  }

  /** Asks media for what the elements read, which may be something else once one has been opened anew. */
  #attach(): void {
    if (this.#stopped) return
    const views = channelViews(this.#chain.views)
    const keys = views.map(viewKey).sort().join(' ')
    if (this.#chain.isUp && keys !== this.#views) {
      const before = this.#feed
      this.#views = keys
      this.#feed = this.#options.media.open(this.plan.source, views, {
        woken: () => this.#pump(),
        restarted: () => this.#restart(),
        changed: () => this.#options.onChange(),
      })
      this.accompany()
      before?.close()
      this.#restart()
    }
    this.#options.onChange()
  }

  #restart(): void {
    this.#last = undefined
    this.#seen = 0
    this.#inFlight = new Set()
  }

  /** Admits the frames whose time has come. */
  #pump(): void {
    const feed = this.#feed
    if (this.#stopped || !feed || feed.ready === 0) return
    const { ready } = feed
    if (ready > this.#seen) {
      this.#seen = ready
      this.#seenAt = performance.now()
    }
    const everyFrame = this.#options.pacing === 'all'
    this.#last ??= everyFrame ? feed.consumed : ready - 1
    if (!this.#chain.isUp) this.#skipTo(ready, 'failed')
    while (this.#last < ready && this.#inFlight.size < this.#options.window) {
      if (!everyFrame) this.#skipTo(ready - 1, 'lacking')
      this.#admit(feed, ++this.#last)
    }
    feed.consume(Math.min(this.#last + 1, ...this.#inFlight) - 1)
  }

  #skipTo(n: number, cause: 'lacking' | 'failed'): void {
    const frames = n - this.#last!
    if (frames <= 0) return
    this.#last = n
    this.statistics.dropped(frames, cause)
  }

  #admit(feed: Feed, n: number): void {
    const stamp = feed.stamp(n)
    if (stamp === 'overtaken') {
      this.statistics.dropped(1, 'lacking')
      return
    }
    const interrupted = feed.takeDiscontinuity(n)
    const inFlight = this.#inFlight
    inFlight.add(n)
    const found = feed.takeFindings(stamp.pts)
    const discontinuity = stamp.discontinuity || interrupted || found?.discontinuity === true
    const trace = this.#traces.begin(n, this.#seenAt)
    const arrived = { ...stamp, time: found?.time ?? stamp.time, discontinuity }
    void this.#analyse(arrived, found, trace).then(failure => {
      trace?.end(failure)
      inFlight.delete(n)
      this.#pump()
      // The last frame of a file is through.
      if (!this.busy && this.#options.sourceStatus()?.state === 'ended') this.#options.onChange()
    })
  }

  /** Comes to what has become of the frame, unless it was published. */
  async #analyse(
    stamp: FrameStamp,
    found: Found | undefined,
    trace: Span | undefined,
  ): Promise<string | undefined> {
    const { media, log, onChange } = this.#options
    const arrivedAt = this.#seenAt
    const turn = this.#output.take()
    const analysis = await this.#chain.process(stamp, found, trace)
    await turn.come
    turn.leave()
    if (this.#stopped) return 'stopped'
    if (typeof analysis === 'string') {
      this.statistics.dropped(1, analysis === 'gone' ? 'lacking' : 'failed')
      return analysis
    }
    const latency = performance.now() - arrivedAt
    const publishing = trace?.child('publish')
    try {
      this.#publication.publish(stamp, media.server?.epoch ?? null, analysis, latency)
    } catch (error) {
      // An element's own attributes may be what no JSON can hold.
      log.error({ err: error, n: stamp.n }, 'a frame cannot be published')
      this.statistics.dropped(1, 'failed')
      return 'failed'
    } finally {
      publishing?.end()
    }
    this.statistics.analysed(latency)
    if (!this.#begun) {
      this.#begun = true
      onChange()
    }
    return undefined
  }
}
