import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'

/**
 * The metadata of one decoded video frame. It can be serialized as JSON; the pixels are in
 * `Picture`.
 */
export interface Frame {
  /** Frame number within the source; the same in all elements and views. */
  readonly n: number
  /**
   * Presentation time in 90 kHz ticks, monotonic across loops and reconnects of the source. It
   * begins anew when the media service restarts, with a discontinuity.
   */
  readonly pts: number
  /** Capture time in microseconds since 1970-01-01 UTC. */
  readonly time: number
  /**
   * Whether the stream was interrupted before this frame, or an earlier element was restarted, so
   * that track ids start again. Elements must discard their state from earlier frames.
   */
  readonly discontinuity: boolean
  /**
   * Width of the source picture in pixels. With `height`, it determines the aspect ratio of
   * normalized coordinates.
   */
  readonly width: number
  /** Height of the source picture in pixels. */
  readonly height: number
  /**
   * Objects added by the preceding elements. Boxes are normalized to 0..1 of the source picture.
   */
  readonly objects: readonly DetectedObject[]
  /**
   * Detections whose score is too low for `objects`. A tracker may continue a track with them, but
   * must not start one. Only trackers use them. They are neither stored nor shown.
   */
  readonly lowScoreObjects: readonly DetectedObject[]
  /** Counters of the preceding elements, by name of the line or zone. */
  readonly counters: Readonly<Counters>
}

/** The changes that an element makes to a frame. Omitted properties leave the frame unchanged. */
export interface FrameResult<OutputEvent extends EventData = EventData> {
  /** Replaces the frame's objects. */
  objects?: DetectedObject[]
  /** Replaces the frame's low-score objects. Trackers return an empty array. */
  lowScoreObjects?: DetectedObject[]
  /** Merged into the counters of the preceding elements. */
  counters?: Counters
  /** Appended to the events of the preceding elements. */
  events?: OutputEvent[]
}

/**
 * The pixels of a frame in the view that the element requested. Valid until `process` has finished.
 */
export interface Picture {
  /** Size in pixels, including padding. */
  readonly width: number
  readonly height: number
  /** Arrangement of the bytes in `data`, such as `RGB` or `GRAY8`. */
  readonly format: ViewSpec['format']
  /**
   * The planes of the picture in order, without padding bytes between rows. In `GRAY8`, the pixel
   * (x, y) is `data[y * width + x]`; in `RGB`, its red value is `data[3 * (y * width + x)]`.
   * In `I420`, an odd width or height is rounded up to the next even number.
   */
  readonly data: Uint8Array
  /** The area covered by the source picture, in pixels. The rest is letterbox padding. */
  readonly content: {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
  }
}
