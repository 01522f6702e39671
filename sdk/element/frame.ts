import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'

/** One decoded frame of a source, as an element sees it: metadata only, so that it can travel between processes. */
export interface Frame {
  /** Running number, the same for all elements and views of a source. */
  readonly n: number
  /** 90 kHz ticks of stream time, monotonic across loops and reconnects. */
  readonly pts: number
  /** When the picture was taken: µs since 1970. */
  readonly time: number
  /** The stream was interrupted before this frame: what moved may be anywhere now. */
  readonly discontinuity: boolean
  /** Size of the source's picture in pixels: what tells how long 0..1 across is beside 0..1 down. */
  readonly width: number
  readonly height: number
  /** What the elements before this one have found. */
  readonly objects: readonly DetectedObject[]
  readonly counters: Readonly<Counters>
}

/** What an element adds to a frame. A part that is left out stays as it was. */
export interface FrameResult {
  objects?: DetectedObject[]
  /** Merged into the counters of the elements before. */
  counters?: Counters
  events?: EventData[]
}

/** The picture of a frame in the view that the element asked for; valid until `process` returns. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly format: ViewSpec['format']
  /** Planes one after the other, rows packed. */
  readonly data: Uint8Array
  /** Where the source's picture lies inside this one, in pixels; the rest is padding. */
  readonly content: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
}
