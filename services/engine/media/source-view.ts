import type { ViewSpec } from '@eyrie/contract/view'
import { type FrameStamp, type RingLocation, RingReader } from '../frames/ring-reader.ts'

/** A feed that reads a view. */
export interface ViewReader {
  /** Number of the last frame that the reader no longer needs. */
  readonly consumed: number
  /** The view may have a new frame. */
  onFrame(view: SourceView, n: number, discontinuity: boolean): void
  /** The ring was replaced: frame numbers may restart at 1. */
  onRestart(view: SourceView): void
}

/** A view of a source, made by media and shared by all feeds that read it. */
export class SourceView {
  readonly spec: ViewSpec
  readonly readers = new Set<ViewReader>()
  /** Why media cannot make the view. */
  failure: string | undefined
  #location: RingLocation | undefined
  #reader: RingReader | undefined
  #newest = 0
  /** The last frame granted to media; 0 if the next grant must be sent in any case. */
  #granted = 0

  constructor(spec: ViewSpec) {
    this.spec = spec
  }

  get ring(): RingLocation | undefined {
    return this.#location
  }

  /** Number of the newest known frame; 0 before the first. */
  get newest(): number {
    return this.#newest
  }

  /** Opens the ring that media announced, unless it is open already. */
  attachRing(location: RingLocation): void {
    this.#granted = 0
    if (location.path !== this.#location?.path || location.generation !== this.#location.generation)
      this.#open(location)
    this.catchUp()
  }

  /** Reads the newest frame number from the ring: its notification may have been lost or not have arrived yet. */
  catchUp(): void {
    if (this.#reader) this.notifyFrame(this.#reader.newest(), false)
  }

  notifyFrame(n: number, discontinuity: boolean): void {
    if (n > this.#newest) this.failure = undefined
    this.#newest = Math.max(this.#newest, n)
    for (const reader of this.readers) reader.onFrame(this, n, discontinuity)
  }

  readStamp(n: number): FrameStamp | 'overwritten' {
    return this.#reader?.readStamp(n) ?? 'overwritten'
  }

  /**
   * With pacing `all`: the frame up to which media may write without overwriting one that the slowest reader still needs.
   * Undefined until a quarter of the ring has become free, since less is not worth a message.
   */
  nextGrant(): { n: number; read: number } | undefined {
    if (!this.#reader || this.readers.size === 0) return undefined
    const { slots } = this.#reader.shape
    const consumed = [...this.readers].map(reader => reader.consumed)
    const n = Math.min(...consumed) + slots
    if (this.#granted > 0 && n - this.#granted < Math.ceil(slots / 4)) return undefined
    this.#granted = n
    return { n, read: Math.max(...consumed) }
  }

  /** Closes the ring. A removed ring occupies memory until every process has closed it. */
  close(): void {
    this.#reader?.close()
    this.#reader = undefined
    this.#location = undefined
    this.#newest = 0
  }

  #open(location: RingLocation): void {
    this.close()
    try {
      this.#reader = new RingReader(location.path)
      this.#location = location
      this.failure = undefined
    } catch (error) {
      this.failure = `cannot read the frame ring ${location.path}: ${(error as Error).message}`
    }
    for (const reader of this.readers) reader.onRestart(this)
  }
}
