import type { Pacing, SourceStatus } from '@eyrie/contract/media'
import type { ViewSpec } from '@eyrie/contract/view'
import type { MetricValues } from '@eyrie/element/metrics'
import type { Backoff, Log, Span, Tracer } from '@eyrie/kit'
import type { FrameStamp } from '../frames/ring-reader.ts'
import { removeDuplicateViews, toChannelViews, viewsKey } from '../frames/views.ts'
import type { FrameFeed } from '../media/frame-feed.ts'
import type { MediaClient } from '../media/media-client.ts'
import type { UpstreamResult } from '../media/upstream-results.ts'
import type { ChannelPlan } from '../plan/plan.ts'
import { deriveChannelState, type StateReport } from './channel-state.ts'
import { type Analysis, ElementChain, type ShadowRequest } from './element-chain.ts'
import { ExtraViews } from './extra-views.ts'
import { FrameProgress } from './frame-progress.ts'
import { type DropCause, FrameStatistics } from './frame-statistics.ts'
import { FrameTraces } from './frame-traces.ts'
import { ResultPublisher, type ResultPublisherOptions } from './result-publisher.ts'
import type { PlannedElements } from './stage-plan.ts'
import { TurnQueue } from './turn-queue.ts'

/** Options of a channel, which runs a pipeline on one source. The plan names both by their ids. */
export interface ChannelOptions extends Omit<ResultPublisherOptions, 'findRing'> {
  pacing: Pacing
  /** Plans the elements of the channel, which are opened later. */
  planElements(channel: Channel): PlannedElements
  media: MediaClient
  tracer: Tracer
  log: Log
  /** Delays between the attempts to reopen a failed element. */
  backoff: Backoff
  random: () => number
  sourceStatus(): SourceStatus | undefined
  /** Called when `state` may have changed. */
  onChange(): void
}

/** Opened elements, and the feed with the frames that they analyse. */
interface RunningElements {
  chain: ElementChain
  /** Maximum number of frames that are analysed at the same time. */
  window: number
  /**
   * The frames of the source in the views of the elements; undefined until the elements are open.
   */
  feed: FrameFeed | undefined
}

/**
 * Number of frames that a live channel may lag behind the source while it waits for the
 * pictures of its sinks.
 */
const MAX_SINK_LAG = 3

/**
 * A pipeline that runs on one source: it reads the frames of the source, runs the elements of the
 * pipeline on each frame and publishes their results. With pacing `realtime`, the channel analyses
 * the newest frame and drops older ones. With pacing `all`, it analyses every frame, and the media
 * service waits for the channel.
 *
 * The channel reads pictures through a feed. Each element that needs pictures defines a
 * view: their size and format. The media service writes the pictures of a view to a ring
 * buffer in shared memory.
 */
export class Channel {
  readonly plan: ChannelPlan
  readonly statistics = new FrameStatistics()
  /** The metrics that elements measure, by element name. */
  readonly elementMetrics = new Map<string, MetricValues>()
  readonly extraViews = new ExtraViews(() => (this.#isStopped ? undefined : this.#feed))
  readonly #options: ChannelOptions
  #elements: RunningElements
  /**
   * The elements that replace the current ones at the next frame, as soon as they are
   * open and have pictures.
   */
  #successor: RunningElements | undefined
  readonly #publisher: ResultPublisher
  readonly #traces: FrameTraces
  /** Ensures that frames are published in the order in which they were admitted. */
  readonly #publishQueue = new TurnQueue()

  /** Identifies the views of the current feed. */
  #viewKeys = ''
  readonly #progress = new FrameProgress()

  #hasAnalysed = false
  #isStopped = false

  constructor(options: ChannelOptions) {
    this.plan = options.plan
    this.#options = options
    this.#publisher = new ResultPublisher({
      ...options,
      findRing: view => this.#feed?.findRing(view),
    })
    this.#traces = new FrameTraces(options.tracer, options.plan)
    this.#elements = this.#createElements(options.planElements(this))
  }

  #createElements({ stages, window }: PlannedElements): RunningElements {
    const { backoff, random } = this.#options
    const chain = new ElementChain(stages, {
      findRing: view => elements.feed?.findRing(view),
      backoff,
      random,
      onChange: () => this.updateFeed(),
    })
    const elements: RunningElements = { chain, window, feed: undefined }
    return elements
  }

  get #chain(): ElementChain {
    return this.#elements.chain
  }

  get #feed(): FrameFeed | undefined {
    return this.#elements.feed
  }

  /** Resolves when all elements are open, or when the first element has failed to open. */
  get initialized(): Promise<void> {
    return (this.#successor ?? this.#elements).chain.initialized
  }

  /** Static metadata of the elements, such as lines and zones, by element name. */
  get metadata(): Record<string, unknown> {
    return this.#chain.metadata
  }

  /** Whether frames are waiting or in flight. */
  get isBusy(): boolean {
    const hasWaitingFrames = this.#progress.isBehind(this.#feed?.newest ?? 0)
    return hasWaitingFrames || this.#progress.inFlightCount > 0
  }

  /** The state of the channel, such as `running` or `failed`, with a reason if one is known. */
  get state(): StateReport {
    const { media, sinks, sourceStatus } = this.#options
    const failedSink = sinks().find(({ failure }) => failure)
    return deriveChannelState({
      elementFailure: this.#chain.failure ?? this.#feed?.failure,
      mediaOutage: media.outage,
      source: sourceStatus(),
      hasAnalysed: this.#hasAnalysed,
      isBusy: this.isBusy,
      isOverloaded: this.statistics.isOverloaded,
      isYielding: this.statistics.isYielding,
      sinkFailure: failedSink?.failure ?? this.#feed?.sinkViewFailure,
    })
  }

  /**
   * Replaces the elements as soon as the new ones are open and have pictures, or as soon as the
   * first new one has failed to open.
   */
  replaceElements(planned: PlannedElements): void {
    this.#endSuccessor()
    const successor = this.#createElements(planned)
    this.#successor = successor
    void successor.chain.initialized.then(() => {
      if (successor !== this.#successor) return
      const views = toChannelViews(successor.chain.views)
      const needsOtherViews = successor.chain.isReady && viewsKey(views) !== this.#viewKeys
      successor.feed = this.#feed && needsOtherViews ? this.#openFeed(views) : this.#feed
      if (successor.feed === this.#feed) this.#continueWith(successor)
    })
  }

  /**
   * Continues with the new elements if the frames after the last handled one have the
   * pictures that they need.
   */
  #continueIfReady(): void {
    const successor = this.#successor
    const feed = successor?.feed
    if (!feed) return
    const { lastHandled } = this.#progress
    const hasPictures = lastHandled === undefined || feed.hasFramesAfter(lastHandled)
    const hasNoFurtherPictures =
      this.#options.sourceStatus()?.state === 'ended' || feed.failure !== undefined
    if (hasPictures || hasNoFurtherPictures) this.#continueWith(successor)
  }

  #continueWith(successor: RunningElements): void {
    const { chain, feed } = this.#elements
    this.#successor = undefined
    this.#elements = successor
    const retired = successor.chain.succeed(chain)
    if (feed && successor.feed && feed !== successor.feed) {
      this.#viewKeys = viewsKey(toChannelViews(successor.chain.views))
      successor.feed.continueAfter(feed)
      this.updateSinkViews()
      // The frames in the previous chain still read its views.
      void retired.then(() => feed.close())
    }
    this.elementMetrics.clear()
    this.updateFeed()
    this.#admitFrames()
  }

  #endSuccessor(): void {
    const successor = this.#successor
    this.#successor = undefined
    successor?.chain.close()
    if (successor?.feed !== this.#feed) successor?.feed?.close()
  }

  /**
   * Compares another version of the element at `index` with it, until the elements are replaced.
   */
  startShadow(index: number, request: ShadowRequest): void {
    this.#chain.startShadow(index, request)
  }

  /** Ends the comparisons with versions of a plugin. */
  endShadows(plugin: string): void {
    this.#chain.endShadows(plugin)
  }

  /** Opens failed elements at once, without waiting for the next attempt. */
  retry(): void {
    this.#chain.retry()
  }

  /** Requests the pictures that the current sinks of the channel need, and the extra views. */
  updateSinkViews(): void {
    const { sinks, pacing } = this.#options
    const views = removeDuplicateViews(sinks().flatMap(({ view }) => view ?? []))
    const maxLag = pacing === 'all' ? Number.POSITIVE_INFINITY : MAX_SINK_LAG
    this.#feed?.setSinkViews(views, maxLag)
    this.extraViews.apply()
  }

  /**
   * Stops the analysis. With pacing `realtime` the feed remains open until `stop`, so
   * that a replacement channel with the same views continues immediately instead of
   * waiting for the next keyframe.
   */
  stopAnalysis(): void {
    this.#isStopped = true
    this.#chain.close()
    this.#endSuccessor()
    if (this.#options.pacing === 'all') this.#feed?.close()
  }

  stop(): void {
    this.stopAnalysis()
    this.#feed?.close()
  }

  /** Must be called when an element has opened or failed, or when its view has changed. */
  updateFeed(): void {
    if (this.#isStopped) return
    const views = toChannelViews(this.#chain.views)
    const viewKeys = viewsKey(views)
    if (this.#chain.isReady && viewKeys !== this.#viewKeys) {
      this.#viewKeys = viewKeys
      if (!this.#feed?.continueWith(views)) this.#replaceFeed(views)
    }
    this.#options.onChange()
  }

  #replaceFeed(views: ViewSpec[]): void {
    // The previous feed is closed last, so that views of both feeds remain open.
    const previousFeed = this.#feed
    this.#elements.feed = this.#openFeed(views)
    this.updateSinkViews()
    previousFeed?.close()
    this.#progress.reset()
  }

  /** Opens a feed for the current elements or the new ones. */
  #openFeed(views: ViewSpec[]): FrameFeed {
    const feed = this.#options.media.openFeed(this.plan.source, views, {
      onFrame: () => {
        this.#continueIfReady()
        this.#admitFrames()
      },
      onRestart: () => {
        if (feed === this.#feed) this.#progress.reset()
      },
      onChange: () => {
        this.#continueIfReady()
        this.#options.onChange()
      },
    })
    return feed
  }

  /**
   * Admits as many frames as fit into the window, and releases the frames that have been
   * published or skipped.
   */
  #admitFrames(): void {
    const feed = this.#feed
    if (this.#isStopped || !feed || feed.newest === 0) return

    const progress = this.#progress
    const { newest } = feed
    const analysesEveryFrame = this.#options.pacing === 'all'
    progress.recordArrival(newest)
    progress.beginAfter(analysesEveryFrame ? feed.consumed : newest - 1)

    if (!this.#chain.isReady) this.#skipTo(newest, 'failed')
    while (progress.isBehind(newest) && progress.inFlightCount < this.#elements.window) {
      if (!analysesEveryFrame) this.#skipTo(newest - 1, 'overload')
      this.#admit(feed, progress.advance())
    }

    const { lastReleased } = progress
    feed.consume(lastReleased)
    // With pacing `all`, frames are written only when all feeds have consumed the previous ones.
    this.#successor?.feed?.consume(lastReleased)
    this.#continueIfReady()
  }

  /** Drops all frames up to frame `n` that have not been handled yet. */
  #skipTo(n: number, cause: DropCause): void {
    const skippedCount = this.#progress.skipTo(n)
    if (skippedCount > 0) this.statistics.recordDropped(skippedCount, cause)
  }

  /** Starts the analysis of frame `n`. */
  #admit(feed: FrameFeed, n: number): void {
    const stamp = feed.readStamp(n)
    if (stamp === 'overwritten') {
      this.statistics.recordDropped(1, 'overload')
      return
    }

    const wasInterrupted = feed.consumeDiscontinuity(n)
    const upstream = feed.nextUpstreamResult(stamp.pts)
    const discontinuity = stamp.discontinuity || wasInterrupted || upstream?.discontinuity === true
    const admitted = { ...stamp, time: upstream?.time ?? stamp.time, discontinuity }

    const trace = this.#traces.start(n, this.#progress.newestArrivedAt)
    const endFlight = this.#progress.startFlight(n)
    void this.#analyse(admitted, upstream, trace).then(failure => {
      trace?.end(failure)
      endFlight()
      this.#admitFrames()
      // The state becomes `stopped` after the last frame of a file.
      if (!this.isBusy && this.#options.sourceStatus()?.state === 'ended') this.#options.onChange()
    })
  }

  /** Analyses and publishes a frame. Returns why it was not published; undefined if it was. */
  async #analyse(
    stamp: FrameStamp,
    upstream: UpstreamResult | undefined,
    trace: Span | undefined,
  ): Promise<'stopped' | 'overwritten' | 'failed' | undefined> {
    const arrivedAt = this.#progress.newestArrivedAt
    const turn = this.#publishQueue.enqueue()
    const analysis = await this.#chain.process(stamp, upstream, trace)
    await turn.ready
    turn.finish()

    if (this.#isStopped) return 'stopped'
    if ('cause' in analysis) {
      this.#publisher.addDropped({ ...stamp, ...analysis })
      this.statistics.recordDropped(1, analysis.cause === 'overwritten' ? 'overload' : 'failed')
      return analysis.cause
    }

    const latencyMs = performance.now() - arrivedAt
    const span = trace?.child('publish')
    const isPublished = this.#publish(stamp, analysis, latencyMs)
    span?.end()
    if (!isPublished) {
      this.statistics.recordDropped(1, 'failed')
      return 'failed'
    }

    this.statistics.recordAnalysed(latencyMs)
    if (!this.#hasAnalysed) {
      this.#hasAnalysed = true
      this.#options.onChange()
    }
    return undefined
  }

  /**
   * Publishes the results of a frame. Returns false if attributes that an element added
   * cannot be encoded as JSON.
   */
  #publish(stamp: FrameStamp, analysis: Analysis, latencyMs: number): boolean {
    const { media, log } = this.#options
    try {
      const epoch = media.server?.epoch ?? null
      this.#publisher.publish({ stamp, epoch, analysis, latencyMs })
      return true
    } catch (error) {
      log.error({ err: error, n: stamp.n }, 'failed to publish frame')
      return false
    }
  }
}
