import type { ViewSpec } from '@eyrie/contract/view'
import { type FrameStamp, type RingLocation, RingReader } from '../frames/ring-reader.ts'

/**
 * A view is the video of a source in one size and pixel format. The media service writes its frames
 * to a ring in shared memory: a file with a fixed number of slots, in which each new frame
 * overwrites the oldest frame. Frames are numbered.
 */

/** A frame of which the media service has notified the engine. */
export interface ViewFrame {
  /** Number of the frame. */
  n: number
  /** Whether frames may be missing between this frame and the one before. */
  discontinuity: boolean
}

/** A reader of a view: the feed that delivers the frames to a channel. */
export interface ViewReader {
  /** Number of the last frame that the reader no longer needs. */
  readonly consumed: number
  /** The view may have a new frame. */
  onFrame(view: SourceView, frame: ViewFrame): void
  /** The ring was replaced, and frame numbers may restart at 1. */
  onRestart(view: SourceView): void
}

/**
 * Permission for the media service to write further frames of a view. Sources whose every frame
 * must be analysed (pacing `all`) need it, because a new frame overwrites an old one.
 */
export interface Grant {
  /** Number of the last frame that may be written. */
  writeUpTo: number
  /** Number of the newest frame that a reader has consumed. */
  readUpTo: number
}

/** The share of the ring that must have become free before the next grant is sent. */
const MIN_GRANT_SHARE = 1 / 4

/** A view of a source, shared by all feeds that read it. */
export class SourceView {
  readonly spec: ViewSpec
  readonly readers = new Set<ViewReader>()
  /** Why the media service cannot create the view; undefined if there is no failure. */
  failure: string | undefined
  #ringLocation: RingLocation | undefined
  #ringReader: RingReader | undefined
  #newest = 0
  /**
   * The `writeUpTo` of the last grant; undefined if the next grant must be sent even if little of
   * the ring has become free.
   */
  #lastWriteUpTo: number | undefined

  constructor(spec: ViewSpec) {
    this.spec = spec
  }

  /** Where the ring is stored; undefined until it is open. */
  get ringLocation(): RingLocation | undefined {
    return this.#ringLocation
  }

  /** Number of the newest known frame; 0 before the first. */
  get newest(): number {
    return this.#newest
  }

  /** Opens the ring at `location`, unless it is open already. */
  attachRing(location: RingLocation): void {
    this.#lastWriteUpTo = undefined
    const current = this.#ringLocation
    const isOpen = location.path === current?.path && location.generation === current.generation
    if (!isOpen) this.#openRing(location)
    this.catchUp()
  }

  /**
   * Reads the number of the newest frame from the ring, in case its notification was lost or
   * is still in transit.
   */
  catchUp(): void {
    const newest = this.#ringReader?.newest()
    if (newest !== undefined) this.notifyFrame({ n: newest, discontinuity: false })
  }

  /** Notifies the readers of a frame. */
  notifyFrame(frame: ViewFrame): void {
    if (frame.n > this.#newest) this.failure = undefined
    this.#newest = Math.max(this.#newest, frame.n)
    for (const reader of this.readers) reader.onFrame(this, frame)
  }

  /**
   * Reads the properties of frame `n`, such as its time, from the ring. Without an open ring, every
   * frame counts as overwritten.
   */
  readStamp(n: number): FrameStamp | 'overwritten' {
    return this.#ringReader?.readStamp(n) ?? 'overwritten'
  }

  /**
   * Returns the next grant for a source with pacing `all`. It includes no frame that would
   * overwrite a frame that a reader still needs. To limit the number of messages, returns undefined
   * until a quarter of the ring has become free.
   */
  nextGrant(): Grant | undefined {
    if (!this.#ringReader || this.readers.size === 0) return undefined

    const { slots } = this.#ringReader.shape
    const consumed = [...this.readers].map(reader => reader.consumed)
    const writeUpTo = Math.min(...consumed) + slots
    const minAdvance = Math.ceil(slots * MIN_GRANT_SHARE)
    const advance = writeUpTo - (this.#lastWriteUpTo ?? Number.NEGATIVE_INFINITY)
    if (advance < minAdvance) return undefined

    this.#lastWriteUpTo = writeUpTo
    return { writeUpTo, readUpTo: Math.max(...consumed) }
  }

  /** Closes the ring. The memory of a removed ring is freed when every process has closed it. */
  close(): void {
    this.#ringReader?.close()
    this.#ringReader = undefined
    this.#ringLocation = undefined
    this.#newest = 0
  }

  #openRing(location: RingLocation): void {
    this.close()
    try {
      this.#ringReader = new RingReader(location.path)
      this.#ringLocation = location
      this.failure = undefined
    } catch (error) {
      this.failure = `cannot read the frame ring ${location.path}: ${(error as Error).message}`
    }
    for (const reader of this.readers) reader.onRestart(this)
  }
}
