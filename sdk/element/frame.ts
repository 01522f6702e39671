import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'

/** Metadata of one decoded video frame. Serialisable; the pixels are in `Picture`. */
export interface Frame {
  /** Frame number within the source; the same in all elements and views. */
  readonly n: number
  /** Presentation time in 90 kHz ticks, monotonic across loops and reconnects of the source. */
  readonly pts: number
  /** Capture time in microseconds since 1970-01-01 UTC. */
  readonly time: number
  /** The stream was interrupted before this frame. State from earlier frames must be discarded. */
  readonly discontinuity: boolean
  /** Size of the source picture in pixels: the aspect ratio behind the normalised coordinates. */
  readonly width: number
  readonly height: number
  /** Objects added by the preceding elements. Boxes are normalised to 0..1 of the source picture. */
  readonly objects: readonly DetectedObject[]
  readonly counters: Readonly<Counters>
}

/** The changes an element makes to a frame. Omitted properties leave the frame as it was. */
export interface FrameResult {
  /** Replaces the frame's objects. */
  objects?: DetectedObject[]
  /** Merged into the counters of the preceding elements. */
  counters?: Counters
  /** Appended to the events of the preceding elements. */
  events?: EventData[]
}

/** Pixels of a frame in the view the element requested. Valid until `process` returns or its promise is resolved or rejected. */
export interface Picture {
  /** Size in pixels, including padding. */
  readonly width: number
  readonly height: number
  readonly format: ViewSpec['format']
  /** Planes in order, each with rows packed without stride. */
  readonly data: Uint8Array
  /** The area covered by the source picture, in pixels. The rest is letterbox padding. */
  readonly content: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
}
