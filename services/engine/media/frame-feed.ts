import type { ViewSpec } from '@eyrie/contract/view'
import type { FrameStamp, RingLocation } from '../frames/ring-reader.ts'
import { viewKey } from '../frames/views.ts'
import type { SourceView, ViewReader } from './source-view.ts'
import type { UpstreamResult, UpstreamResults } from './upstream-results.ts'

export interface FrameFeedListener {
  /** `newest` may have advanced. */
  onFrame(): void
  /** A ring was replaced: its frames are lost, and frame numbers may restart at 1. */
  onRestart(): void
  /** The state of the source, of a view or of the connection to media changed. */
  onChange(): void
}

/** Connects a feed to its source. */
export interface FrameFeedSource {
  /** Number of the newest known frame of the source; 0 before the first. */
  newestFrame(): number
  upstreamResults(): UpstreamResults | undefined
  /** Returns the views with these specifications and creates missing ones. */
  openViews(specs: readonly ViewSpec[]): SourceView[]
  /** Called when frames of `view` have been consumed. */
  onConsumed(view: SourceView): void
  /** Closes views that no feed reads. */
  pruneViews(): void
  onClose(): void
}

/**
 * The frames of one source for one channel: those available in all views that its elements read. Sinks may add views of
 * their own; the feed waits for these only up to a maximum lag, and their failures do not stop it.
 */
export class FrameFeed implements ViewReader {
  readonly source: number
  readonly #views: readonly SourceView[]
  readonly #listener: FrameFeedListener
  readonly #media: FrameFeedSource
  #sinkViews: readonly SourceView[] = []
  #maxSinkLag = 0
  /** The sink views exist since the first frame of the source. */
  #hasSinkViewsFromStart = false
  #consumed: number
  #isInterrupted = false
  /** `pts` of the last upstream result that was read. */
  #lastResultPts: number | undefined
  /** Number of the frame for which an interruption was last reported. */
  #lastInterruption = 0

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

  /** Number of the newest frame that all views have; 0 before the first. */
  get newest(): number {
    const newest = Math.min(...this.#views.map(view => view.newest))
    const awaited = this.#sinkViews.filter(
      view => !view.failure && (view.newest > 0 || this.#hasSinkViewsFromStart),
    )
    const newestForSinks = Math.min(...awaited.map(view => view.newest))
    return Math.min(newest, Math.max(newestForSinks, newest - this.#maxSinkLag))
  }

  /** Why a view cannot be made. */
  get failure(): string | undefined {
    return this.#views.find(view => view.failure)?.failure
  }

  /** Why a view of a sink cannot be made. */
  get sinkViewFailure(): string | undefined {
    return this.#sinkViews.find(view => view.failure)?.failure
  }

  /** Number of the last frame that is no longer needed, or that is older than the feed. */
  get consumed(): number {
    return this.#consumed
  }

  readStamp(n: number): FrameStamp | 'overwritten' {
    return this.#views[0]!.readStamp(n)
  }

  /** Replaces the views of the sinks. A frame waits for them until there are `maxLag` newer ones. */
  setSinkViews(specs: readonly ViewSpec[], maxLag: number): void {
    const previous = this.#sinkViews
    this.#maxSinkLag = maxLag
    this.#hasSinkViewsFromStart = this.#media.newestFrame() === 0
    this.#sinkViews = this.#media.openViews(specs).filter(view => !this.#views.includes(view))
    for (const view of this.#sinkViews) view.readers.add(this)
    for (const view of previous) if (!this.#sinkViews.includes(view)) view.readers.delete(this)
    this.#media.pruneViews()
  }

  /** The upstream result of the frame at `pts`, including events of frames skipped since the previous call. */
  nextUpstreamResult(pts: number): UpstreamResult | undefined {
    const result = this.#media.upstreamResults()?.find(pts, this.#lastResultPts)
    if (result) this.#lastResultPts = pts
    return result
  }

  findRing(view: ViewSpec): RingLocation | undefined {
    const key = viewKey(view)
    return [...this.#views, ...this.#sinkViews].find(({ spec }) => viewKey(spec) === key)?.ring
  }

  /** Whether the stream was interrupted before frame `n` and after the previous call. */
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
    for (const view of this.#views) this.#media.onConsumed(view)
    for (const view of this.#sinkViews) this.#media.onConsumed(view)
  }

  onFrame(view: SourceView, n: number, discontinuity: boolean): void {
    // A sink view that is added later starts with a discontinuity of its own. And if the ring's header already announced
    // this frame, its notification arrives after the interruption was reported.
    if (this.#views.includes(view) && n > this.#lastInterruption) this.#isInterrupted ||= discontinuity
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
    for (const view of [...this.#views, ...this.#sinkViews]) view.readers.delete(this)
    this.#media.onClose()
  }
}
