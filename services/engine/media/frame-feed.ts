import type { ViewSpec } from '@eyrie/contract/view'
import type { FrameStamp, RingLocation } from '../frames/ring-reader.ts'
import { viewKey } from '../frames/views.ts'
import type { SourceView, ViewFrame, ViewReader } from './source-view.ts'
import type { UpstreamResult, UpstreamResults } from './upstream-results.ts'

/**
 * A frame feed delivers the frames of a source to a channel. The elements of the channel may read
 * the picture in several views (sizes and pixel formats), so a frame is available when all of these
 * views have it. The pictures of each view are in a frame ring, a buffer in shared memory in which
 * new frames overwrite old ones.
 */

/** The channel that reads a feed. */
export interface FrameFeedListener {
  /** New frames may be available. */
  onFrame(): void
  /**
   * The frame ring of a view was replaced. The frames of the old ring are lost, and frame
   * numbers may restart at 1.
   */
  onRestart(): void
  /** The state of the source, of a view or of the connection to the media service has changed. */
  onChange(): void
}

/** The parts of the media client that the feed of one source uses. */
export interface FrameFeedSource {
  /** Returns the number of the newest frame; 0 before the first. */
  newestFrame(): number
  /** Returns results of another engine that arrive with the frames, if the source provides them. */
  upstreamResults(): UpstreamResults | undefined
  /** Returns the views with these specifications and creates missing views. */
  openViews(specs: readonly ViewSpec[]): SourceView[]
  /** Called when frames of `view` have been consumed. */
  onConsumed(view: SourceView): void
  /** Closes views that no feed reads. */
  pruneViews(): void
  onClose(): void
}

/**
 * The frames of one source for one channel. In addition to the views of the channel's elements, the
 * sinks of the channel may request views. The feed waits for the sink views only up to a maximum
 * lag, and continues if they fail.
 */
export class FrameFeed implements ViewReader {
  readonly source: number
  #views: readonly SourceView[]
  readonly #listener: FrameFeedListener
  readonly #media: FrameFeedSource

  #sinkSpecs: readonly ViewSpec[] = []
  #sinkViews: readonly SourceView[] = []
  #maxSinkLag = 0
  /**
   * Whether the sink views were requested before the first frame of the source, and
   * therefore have every frame.
   */
  #hasSinkViewsFromStart = false

  /** Further views, and those of them for whose pictures frames wait. */
  #extraViews: readonly SourceView[] = []
  #awaitedViews: readonly SourceView[] = []

  #consumed: number
  /** Whether the stream was interrupted since the last call of `consumeDiscontinuity`. */
  #isInterrupted = false
  /** Number of the frame for which an interruption was last reported. */
  #lastInterruption = 0
  /** Timestamp (`pts`) of the last upstream result that was returned. */
  #lastResultPts: number | undefined

  constructor(
    source: number,
    views: readonly SourceView[],
    listener: FrameFeedListener,
    media: FrameFeedSource,
  ) {
    this.source = source
    this.#views = views
    this.#listener = listener
    this.#media = media
    this.#consumed = media.newestFrame()
    for (const view of views) view.readers.add(this)
  }

  /** Number of the newest available frame; 0 before the first. */
  get newest(): number {
    const required = [...this.#views, ...this.#awaitedViews.filter(({ failure }) => !failure)]
    const newestForElements = Math.min(...required.map(view => view.newest))

    const isAwaited = (view: SourceView) =>
      !view.failure && (view.newest > 0 || this.#hasSinkViewsFromStart)
    const awaitedSinkViews = this.#sinkViews.filter(isAwaited)
    // Infinity if no sink view is awaited.
    const newestForSinks = Math.min(...awaitedSinkViews.map(view => view.newest))

    const oldestAllowed = newestForElements - this.#maxSinkLag
    return Math.min(newestForElements, Math.max(newestForSinks, oldestAllowed))
  }

  /** Why the media service cannot create a view; undefined if there is no failure. */
  get failure(): string | undefined {
    return this.#views.find(view => view.failure)?.failure
  }

  /** Why the media service cannot create a sink view; undefined if there is no failure. */
  get sinkViewFailure(): string | undefined {
    return this.#sinkViews.find(view => view.failure)?.failure
  }

  /**
   * Number of the last frame that the channel no longer needs. Initially, the newest frame before
   * the feed was opened.
   */
  get consumed(): number {
    return this.#consumed
  }

  /** Whether all views have the frames after `n`, or will have them as soon as these arrive. */
  hasFramesAfter(n: number): boolean {
    return this.#views.every(
      view => view.newest > 0 && (view.newest <= n || view.readStamp(n + 1) !== 'overwritten'),
    )
  }

  /**
   * Continues where another feed of the same source ends, with other views. The beginning of
   * these is no interruption.
   */
  continueAfter(previous: FrameFeed): void {
    this.#isInterrupted = previous.#isInterrupted
    this.#lastInterruption = Math.max(previous.#lastInterruption, this.newest)
    this.#lastResultPts = previous.#lastResultPts
  }

  /** Returns the time stamps of frame `n`. */
  readStamp(n: number): FrameStamp | 'overwritten' {
    return this.#views[0]!.readStamp(n)
  }

  /**
   * Replaces the views of the sinks. A frame waits for the sink views until there are
   * `maxLag` newer frames.
   */
  setSinkViews(specs: readonly ViewSpec[], maxLag: number): void {
    this.#maxSinkLag = maxLag
    this.#hasSinkViewsFromStart = this.#media.newestFrame() === 0
    const previous = this.#sinkViews
    this.#sinkSpecs = specs
    this.#sinkViews = this.#openFurtherViews(specs)
    this.#updateReaders(previous)
  }

  /**
   * Replaces the views that are read in addition. Frames wait for the pictures of `awaited`,
   * which are some of them.
   */
  setExtraViews(specs: readonly ViewSpec[], awaited: readonly ViewSpec[]): void {
    const previous = this.#extraViews
    this.#extraViews = this.#openFurtherViews(specs)
    const awaitedKeys = new Set(awaited.map(viewKey))
    this.#awaitedViews = this.#extraViews.filter(({ spec }) => awaitedKeys.has(viewKey(spec)))
    this.#updateReaders(previous)
  }

  /** Number of the newest frame with a picture in a further view; 0 before the first. */
  newestInView(spec: ViewSpec): number {
    return this.#findView(spec)?.newest ?? 0
  }

  /**
   * Continues with these views at the next frame if it has pictures in all of them.
   * Returns false otherwise.
   */
  continueWith(specs: readonly ViewSpec[]): boolean {
    const views = specs.map(spec => this.#findView(spec))
    if (views.some(view => view === undefined || view.newest === 0)) return false
    const previous = this.#allViews
    this.#views = views as SourceView[]
    // A view that the elements no longer read may be one of the sinks.
    this.#sinkViews = this.#openFurtherViews(this.#sinkSpecs)
    this.#updateReaders(previous)
    return true
  }

  #openFurtherViews(specs: readonly ViewSpec[]): SourceView[] {
    return this.#media.openViews(specs).filter(view => !this.#views.includes(view))
  }

  #findView(spec: ViewSpec): SourceView | undefined {
    const key = viewKey(spec)
    return this.#allViews.find(({ spec }) => viewKey(spec) === key)
  }

  /** Reads the present views, and no longer those of `previous` that are none of them. */
  #updateReaders(previous: readonly SourceView[]): void {
    const views = this.#allViews
    for (const view of views) view.readers.add(this)
    for (const view of previous) if (!views.includes(view)) view.readers.delete(this)
    this.#media.pruneViews()
  }

  get #allViews(): SourceView[] {
    return [...this.#views, ...this.#sinkViews, ...this.#extraViews]
  }

  /**
   * Returns the result of another engine for the frame at `pts`, with the events of all frames
   * since the previous call.
   */
  nextUpstreamResult(pts: number): UpstreamResult | undefined {
    const result = this.#media.upstreamResults()?.find(pts, this.#lastResultPts)
    if (result) this.#lastResultPts = pts
    return result
  }

  /**
   * Returns the location of a view's frame ring; undefined until the media service has created it.
   */
  findRing(view: ViewSpec): RingLocation | undefined {
    return this.#findView(view)?.ringLocation
  }

  /** Returns whether the stream was interrupted between the previous call and frame `n`. */
  consumeDiscontinuity(n: number): boolean {
    const wasInterrupted = this.#isInterrupted
    this.#isInterrupted = false
    if (wasInterrupted) this.#lastInterruption = n
    return wasInterrupted
  }

  /** Releases the frames up to `n`. */
  consume(n: number): void {
    if (n <= this.#consumed) return
    this.#consumed = n
    for (const view of this.#allViews) this.#media.onConsumed(view)
  }

  onFrame(view: SourceView, { n, discontinuity }: ViewFrame): void {
    // A sink view that is added later starts with a discontinuity, which does not concern the
    // channel. If the feed has already found frame n in the ring, the message with the
    // discontinuity arrives too late.
    const isRelevant = this.#views.includes(view) && n > this.#lastInterruption
    if (isRelevant && discontinuity) this.#isInterrupted = true
    this.#listener.onFrame()
  }

  onRestart(view: SourceView): void {
    this.#hasSinkViewsFromStart = this.#media.newestFrame() === 0
    if (!this.#views.includes(view)) return

    this.#consumed = this.#media.newestFrame()
    this.#isInterrupted = true
    this.#lastInterruption = 0
    this.#lastResultPts = undefined
    this.#listener.onRestart()
  }

  notifyChange(): void {
    this.#listener.onChange()
  }

  close(): void {
    for (const view of this.#allViews) view.readers.delete(this)
    this.#media.onClose()
  }
}
