import type { ViewSpec } from '@eyrie/contract/view'
import type { RingPlace } from '../frames/ring-reader.ts'
import { type FrameStamp, RingReader } from '../frames/ring-reader.ts'

/** A feed that reads a view. */
export interface ViewReader {
  /** Number of the last frame that the reader no longer needs. */
  readonly consumed: number
  /** There may be a new frame in the view. */
  woken(view: SourceView, n: number, discontinuity: boolean): void
  /** The ring was replaced: frames may be numbered from 1 again. */
  restarted(view: SourceView): void
}

/** A view of a source as media makes it, shared by the feeds that read it. */
export class SourceView {
  readonly spec: ViewSpec
  readonly feeds = new Set<ViewReader>()
  /** Why media cannot make it. */
  failure: string | undefined
  #place: RingPlace | undefined
  #reader: RingReader | undefined
  #newest = 0
  /** What media was last granted; 0 where it has to be told in any case. */
  #granted = 0

  constructor(spec: ViewSpec) {
    this.spec = spec
  }

  get place(): RingPlace | undefined {
    return this.#place
  }

  /** Number of the newest frame known of; 0 before the first. */
  get newest(): number {
    return this.#newest
  }

  /** Media has made the ring, or says once more where it is. */
  made(place: RingPlace): void {
    this.#granted = 0
    if (place.path !== this.#place?.path || place.generation !== this.#place.generation) this.#open(place)
    this.catchUp()
  }

  /** A wake-up may have been lost with a connection or be still under way; the ring's header knows. */
  catchUp(): void {
    if (this.#reader) this.woken(this.#reader.newest(), false)
  }

  woken(n: number, discontinuity: boolean): void {
    if (n > this.#newest) this.failure = undefined
    this.#newest = Math.max(this.#newest, n)
    for (const feed of this.feeds) feed.woken(this, n, discontinuity)
  }

  /** What the ring says of frame `n`, its picture aside. */
  stamp(n: number): FrameStamp | 'overtaken' {
    return this.#reader?.stamp(n) ?? 'overtaken'
  }

  /**
   * With pacing `all`: the frame up to which media may write without taking one from the slowest feed. It is worth a
   * message once a quarter of the ring has become free; undefined before that.
   */
  takeGrant(): { n: number; read: number } | undefined {
    if (!this.#reader || this.feeds.size === 0) return undefined
    const { slots } = this.#reader.shape
    const consumed = [...this.feeds].map(feed => feed.consumed)
    const n = Math.min(...consumed) + slots
    if (this.#granted > 0 && n - this.#granted < Math.ceil(slots / 4)) return undefined
    this.#granted = n
    return { n, read: Math.max(...consumed) }
  }

  /** The ring is gone; its file is kept in memory by whoever holds it open. */
  close(): void {
    this.#reader?.close()
    this.#reader = undefined
    this.#place = undefined
    this.#newest = 0
  }

  #open(place: RingPlace): void {
    this.close()
    try {
      this.#reader = new RingReader(place.path)
      this.#place = place
      this.failure = undefined
    } catch (error) {
      this.failure = `the frame ring ${place.path} cannot be read: ${(error as Error).message}`
    }
    for (const feed of this.feeds) feed.restarted(this)
  }
}
