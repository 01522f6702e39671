import type { Pacing, SourceStatus } from '@eyrie/contract/media'
import type { Backoff, Log, Span, Tracer } from '@eyrie/kit'
import type { FrameStamp } from '../frames/ring-reader.ts'
import { removeDuplicateViews, toChannelViews, viewKey } from '../frames/views.ts'
import type { FrameFeed } from '../media/frame-feed.ts'
import type { MediaClient } from '../media/media-client.ts'
import type { UpstreamResult } from '../media/upstream-results.ts'
import type { ChannelPlan } from '../plan/plan.ts'
import { deriveChannelState, type StateReport } from './channel-state.ts'
import { ElementChain } from './element-chain.ts'
import { type DropCause, FrameStatistics } from './frame-statistics.ts'
import { FrameTraces } from './frame-traces.ts'
import { ResultPublisher, type ResultPublisherOptions } from './result-publisher.ts'
import type { StagePlan } from './stage-plan.ts'
import { TurnQueue } from './turn-queue.ts'

export interface ChannelOptions extends Omit<ResultPublisherOptions, 'findRing'> {
  pacing: Pacing
  stages: readonly StagePlan[]
  /** Maximum number of frames in flight. */
  window: number
  media: MediaClient
  tracer: Tracer
  log: Log
  backoff: Backoff
  random: () => number
  sourceStatus(): SourceStatus | undefined
  /** Called when `state` may have changed. */
  onChange(): void
}

/** How many frames a live channel may lag behind to wait for the pictures of its sinks. */
const MAX_SINK_LAG = 3

/**
 * Runs a pipeline on a source. With pacing `realtime` it analyses the newest frame and drops older ones; with `all` it
 * analyses every frame, and media waits for the channel.
 */
export class Channel {
  readonly plan: ChannelPlan
  readonly statistics = new FrameStatistics()
  readonly #options: ChannelOptions
  readonly #chain: ElementChain
  readonly #publisher: ResultPublisher
  readonly #traces: FrameTraces
  /** Publishes frames in the order in which they were admitted. */
  readonly #publishQueue = new TurnQueue()
  #feed: FrameFeed | undefined
  /** Keys of the views that `#feed` reads. */
  #viewKeys = ''
  /** Number of the newest frame that was admitted or skipped; undefined before the first one of a ring. */
  #lastHandled: number | undefined
  /** The newest frame that has arrived, and when it did. */
  #newest = 0
  #newestArrivedAt = 0
  #inFlight = new Set<number>()
  #hasAnalysed = false
  #isStopped = false

  constructor(options: ChannelOptions) {
    this.plan = options.plan
    this.#options = options
    this.#publisher = new ResultPublisher({ ...options, findRing: view => this.#feed?.findRing(view) })
    this.#traces = new FrameTraces(options.tracer, options.plan)
    this.#chain = new ElementChain(options.stages, {
      findRing: view => this.#feed?.findRing(view),
      backoff: options.backoff,
      random: options.random,
      onChange: () => this.#updateFeed(),
    })
  }

  /** Resolves when all elements are open, or after the first one has failed to open. */
  get initialized(): Promise<void> {
    return this.#chain.initialized
  }

  /** Lines, zones and other static metadata, by element name. */
  get metadata(): Record<string, unknown> {
    return this.#chain.metadata
  }

  /** Whether frames are waiting or in flight. */
  get isBusy(): boolean {
    const hasWaiting =
      this.#feed !== undefined && this.#lastHandled !== undefined && this.#feed.newest > this.#lastHandled
    return hasWaiting || this.#inFlight.size > 0
  }

  get state(): StateReport {
    const { media, sinks, sourceStatus } = this.#options
    return deriveChannelState({
      elementFailure: this.#chain.failure ?? this.#feed?.failure,
      mediaOutage: media.outage,
      source: sourceStatus(),
      hasAnalysed: this.#hasAnalysed,
      isBusy: this.isBusy,
      isOverloaded: this.statistics.isOverloaded,
      isYielding: this.statistics.isYielding,
      sinkFailure: sinks().find(({ failure }) => failure)?.failure ?? this.#feed?.sinkViewFailure,
    })
  }

  /** Requests the views of the channel's current sinks from media. */
  updateSinkViews(): void {
    const views = removeDuplicateViews(this.#options.sinks().flatMap(({ view }) => view ?? []))
    this.#feed?.setSinkViews(views, this.#options.pacing === 'all' ? Number.POSITIVE_INFINITY : MAX_SINK_LAG)
  }

  /**
   * Stops the analysis. In real time the feed remains open until `stop`: a replacement channel that reads the same views can
   * continue immediately instead of waiting for the next keyframe.
   */
  stopAnalysis(): void {
    this.#isStopped = true
    this.#chain.close()
    if (this.#options.pacing === 'all') this.#feed?.close()
  }

  stop(): void {
    this.stopAnalysis()
    this.#feed?.close()
  }

  /** Opens a new feed if the elements read other views than before. */
  #updateFeed(): void {
    if (this.#isStopped) return
    const views = toChannelViews(this.#chain.views)
    const viewKeys = views.map(viewKey).sort().join(' ')
    if (this.#chain.isReady && viewKeys !== this.#viewKeys) {
      const previousFeed = this.#feed
      this.#viewKeys = viewKeys
      this.#feed = this.#options.media.openFeed(this.plan.source, views, {
        onFrame: () => this.#admitFrames(),
        onRestart: () => this.#resetPosition(),
        onChange: () => this.#options.onChange(),
      })
      this.updateSinkViews()
      previousFeed?.close()
      this.#resetPosition()
    }
    this.#options.onChange()
  }

  #resetPosition(): void {
    this.#lastHandled = undefined
    this.#newest = 0
    this.#inFlight = new Set()
  }

  /** Admits as many frames as fit into the window and releases the ones no longer needed. */
  #admitFrames(): void {
    const feed = this.#feed
    if (this.#isStopped || !feed || feed.newest === 0) return
    const { newest } = feed
    if (newest > this.#newest) {
      this.#newest = newest
      this.#newestArrivedAt = performance.now()
    }
    const everyFrame = this.#options.pacing === 'all'
    this.#lastHandled ??= everyFrame ? feed.consumed : newest - 1
    if (!this.#chain.isReady) this.#skipTo(newest, 'failed')
    while (this.#lastHandled < newest && this.#inFlight.size < this.#options.window) {
      if (!everyFrame) this.#skipTo(newest - 1, 'overload')
      this.#admit(feed, ++this.#lastHandled)
    }
    feed.consume(Math.min(this.#lastHandled + 1, ...this.#inFlight) - 1)
  }

  #skipTo(n: number, cause: DropCause): void {
    const frames = n - this.#lastHandled!
    if (frames <= 0) return
    this.#lastHandled = n
    this.statistics.recordDropped(frames, cause)
  }

  #admit(feed: FrameFeed, n: number): void {
    const stamp = feed.readStamp(n)
    if (stamp === 'overwritten') {
      this.statistics.recordDropped(1, 'overload')
      return
    }
    const wasInterrupted = feed.consumeDiscontinuity(n)
    const inFlight = this.#inFlight
    inFlight.add(n)
    const upstream = feed.nextUpstreamResult(stamp.pts)
    const discontinuity = stamp.discontinuity || wasInterrupted || upstream?.discontinuity === true
    const trace = this.#traces.start(n, this.#newestArrivedAt)
    const admitted = { ...stamp, time: upstream?.time ?? stamp.time, discontinuity }
    void this.#analyse(admitted, upstream, trace).then(outcome => {
      trace?.end(outcome)
      inFlight.delete(n)
      this.#admitFrames()
      // The state becomes `stopped` after the last frame of a file.
      if (!this.isBusy && this.#options.sourceStatus()?.state === 'ended') this.#options.onChange()
    })
  }

  /** Analyses and publishes a frame. Returns undefined if it was published, otherwise why not. */
  async #analyse(
    stamp: FrameStamp,
    upstream: UpstreamResult | undefined,
    trace: Span | undefined,
  ): Promise<'stopped' | 'overwritten' | 'failed' | undefined> {
    const { media, log, onChange } = this.#options
    const arrivedAt = this.#newestArrivedAt
    const turn = this.#publishQueue.enqueue()
    const analysis = await this.#chain.process(stamp, upstream, trace)
    await turn.ready
    turn.finish()
    if (this.#isStopped) return 'stopped'
    if (typeof analysis === 'string') {
      this.statistics.recordDropped(1, analysis === 'overwritten' ? 'overload' : 'failed')
      return analysis
    }
    const latency = performance.now() - arrivedAt
    const span = trace?.child('publish')
    try {
      this.#publisher.publish(stamp, media.server?.epoch ?? null, analysis, latency)
    } catch (error) {
      // An element's own attributes may be impossible to serialise.
      log.error({ err: error, n: stamp.n }, 'failed to publish frame')
      this.statistics.recordDropped(1, 'failed')
      return 'failed'
    } finally {
      span?.end()
    }
    this.statistics.recordAnalysed(latency)
    if (!this.#hasAnalysed) {
      this.#hasAnalysed = true
      onChange()
    }
    return undefined
  }
}
