import type { ViewSpec } from '@eyrie/contract/view'
import type { RingPlace } from '../ports.ts'
import type { FrameStamp } from './ring-reader.ts'
import type { SourceView } from './source-view.ts'
import { viewKey } from './view-key.ts'

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
  consumed(view: SourceView): void
  closed(): void
}

/** The frames of one source for one channel: those that are there in all the views that the channel reads. */
export class Feed {
  readonly source: number
  readonly #views: readonly SourceView[]
  readonly #listener: FeedListener
  readonly #media: FeedKeeper
  #consumed: number
  #discontinuity = false

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
    return Math.min(...this.#views.map(view => view.newest))
  }

  /** Why a view cannot be made. */
  get failure(): string | undefined {
    return this.#views.find(view => view.failure)?.failure
  }

  /** The frames up to this one are no longer needed, or were there before the feed. */
  get consumed(): number {
    return this.#consumed
  }

  stamp(n: number): FrameStamp | 'overtaken' {
    return this.#views[0]!.stamp(n)
  }

  ringOf(view: ViewSpec): RingPlace | undefined {
    const key = viewKey(view)
    return this.#views.find(({ spec }) => viewKey(spec) === key)?.place
  }

  /** Whether the stream was interrupted since this was last asked. */
  takeDiscontinuity(): boolean {
    const interrupted = this.#discontinuity
    this.#discontinuity = false
    return interrupted
  }

  consume(n: number): void {
    if (n <= this.#consumed) return
    this.#consumed = n
    for (const view of this.#views) this.#media.consumed(view)
  }

  woken(discontinuity: boolean): void {
    this.#discontinuity ||= discontinuity
    this.#listener.woken()
  }

  restarted(): void {
    this.#consumed = this.#media.reached()
    this.#discontinuity = true
    this.#listener.restarted()
  }

  changed(): void {
    this.#listener.changed()
  }

  close(): void {
    for (const view of this.#views) view.feeds.delete(this)
    this.#media.closed()
  }
}
