import type { ViewSpec } from '@eyrie/contract/view'
import type { FrameStamp, RingPlace } from '../frames/ring-reader.ts'
import { viewKey } from '../frames/views.ts'
import type { Findings, Found } from './findings.ts'
import type { SourceView, ViewReader } from './source-view.ts'

export interface FeedListener {
  /** There may be a new frame: see `ready`. */
  woken(): void
  /** A ring was made anew: what was in the one before is gone, and frames may be numbered from the beginning. */
  restarted(): void
  /** The source, its views or the way to media are in another state. */
  changed(): void
}

/** Where a feed comes from. */
export interface FeedKeeper {
  /** Number of the newest frame that the source is known to have had. */
  reached(): number
  /** What came with the source's frames. */
  findings(): Findings | undefined
  /** The views of the source by these specifications, made where there are none yet. */
  views(specs: readonly ViewSpec[]): SourceView[]
  consumed(view: SourceView): void
  /** Views are no longer read by this feed. */
  left(): void
  closed(): void
}

/**
 * The frames of one source for one channel: those that are there in all the views that the channel reads. Pictures for
 * sinks may go along; they are waited for a little, and what is wrong with them stops nothing.
 */
export class Feed implements ViewReader {
  readonly source: number
  readonly #views: readonly SourceView[]
  readonly #listener: FeedListener
  readonly #media: FeedKeeper
  #pictures: readonly SourceView[] = []
  #patience = 0
  /** Pictures are there from the source's first frame on. */
  #fromStart = false
  #consumed: number
  #discontinuity = false
  #foundUpTo: number | undefined
  /** The frame before which an interruption was passed on last. */
  #interruptedAt = 0

  constructor(source: number, views: readonly SourceView[], listener: FeedListener, media: FeedKeeper) {
    this.source = source
    this.#views = views
    this.#listener = listener
    this.#media = media
    this.#consumed = media.reached()
    for (const view of views) view.feeds.add(this)
  }

  /** Number of the newest frame that all views have; 0 before the first. */
  get ready(): number {
    const ready = Math.min(...this.#views.map(view => view.newest))
    const awaited = this.#pictures.filter(view => !view.failure && (view.newest > 0 || this.#fromStart))
    const pictured = Math.min(...awaited.map(view => view.newest))
    return Math.min(ready, Math.max(pictured, ready - this.#patience))
  }

  /** Why a view cannot be made. */
  get failure(): string | undefined {
    return this.#views.find(view => view.failure)?.failure
  }

  /** Why a picture that goes along cannot be made. */
  get pictureFailure(): string | undefined {
    return this.#pictures.find(view => view.failure)?.failure
  }

  /** The frames up to this one are no longer needed, or were there before the feed. */
  get consumed(): number {
    return this.#consumed
  }

  stamp(n: number): FrameStamp | 'overtaken' {
    return this.#views[0]!.stamp(n)
  }

  /** Lets other pictures go along than before. A frame is held back for them until there are `patience` newer ones. */
  accompany(specs: readonly ViewSpec[], patience: number): void {
    const before = this.#pictures
    this.#patience = patience
    this.#fromStart = this.#media.reached() === 0
    this.#pictures = this.#media.views(specs).filter(view => !this.#views.includes(view))
    for (const view of this.#pictures) view.feeds.add(this)
    for (const view of before) if (!this.#pictures.includes(view)) view.feeds.delete(this)
    this.#media.left()
  }

  /** What another engine has found in the frame of this `pts`, and in those passed over since this was last asked. */
  takeFindings(pts: number): Found | undefined {
    const found = this.#media.findings()?.at(pts, this.#foundUpTo)
    if (found) this.#foundUpTo = pts
    return found
  }

  ringOf(view: ViewSpec): RingPlace | undefined {
    const key = viewKey(view)
    return [...this.#views, ...this.#pictures].find(({ spec }) => viewKey(spec) === key)?.place
  }

  /** Whether the stream was interrupted before frame `n`, and since this was last asked. */
  takeDiscontinuity(n: number): boolean {
    const interrupted = this.#discontinuity
    this.#discontinuity = false
    if (interrupted) this.#interruptedAt = n
    return interrupted
  }

  consume(n: number): void {
    if (n <= this.#consumed) return
    this.#consumed = n
    for (const view of [...this.#views, ...this.#pictures]) this.#media.consumed(view)
  }

  woken(view: SourceView, n: number, discontinuity: boolean): void {
    // A picture that joins later begins with an interruption of its own; and of a frame that the ring's header has told
    // of before, the wake-up comes when the interruption has been passed on already.
    if (this.#views.includes(view) && n > this.#interruptedAt) this.#discontinuity ||= discontinuity
    this.#listener.woken()
  }

  restarted(view: SourceView): void {
    this.#fromStart = this.#media.reached() === 0
    if (!this.#views.includes(view)) return
    this.#consumed = this.#media.reached()
    this.#discontinuity = true
    this.#interruptedAt = 0
    this.#foundUpTo = undefined
    this.#listener.restarted()
  }

  changed(): void {
    this.#listener.changed()
  }

  close(): void {
    for (const view of [...this.#views, ...this.#pictures]) view.feeds.delete(this)
    this.#media.closed()
  }
}
