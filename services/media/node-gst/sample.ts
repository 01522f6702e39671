import type { Caps } from './value.ts'

/** What happens to a new sample while `queue` samples are waiting or held. */
export type WhenFull = 'drop-oldest' | 'drop-newest' | 'block'

export interface SampleOptions {
  /**
   * Maximum number of samples that are waiting for JavaScript or delivered and not yet released. At least 1.
   */
  queue: number
  /**
   * `block` blocks the streaming thread until a sample is released, or the pipeline is stopped or flushed; `drop-oldest`
   * drops the oldest waiting sample, or the new one if all are held.
   */
  full: WhenFull
}

/** One buffer from an appsink, mapped for reading. */
export interface Sample {
  /** The buffer's memory, not a copy. Empty after `release()`. */
  readonly data: Uint8Array
  /** Presentation time in 90 kHz ticks of stream time (see `Timeline`); null if the buffer has none. */
  readonly pts: number | null
  /** Decoding time in 90 kHz ticks of stream time; may be before the timeline's start if pictures are reordered. */
  readonly dts: number | null
  /** In 90 kHz ticks. */
  readonly duration: number | null
  /** Capture time in µs since 1970, by the timeline's anchor; null if `pts` is. */
  readonly timeUs: number | null
  /** The buffer's timestamp in ns, before the segment is applied. */
  readonly bufferPtsNs: number | null
  /** GST_BUFFER_OFFSET: the frame's number if `Pipeline.number` assigned one. */
  readonly offset: number | null
  /** Decodable on its own. */
  readonly keyframe: boolean
  /** Data is missing before this sample. */
  readonly discont: boolean
  /** A stream header instead of a picture. */
  readonly header: boolean
  /** Set on a stream's first sample, and if the caps differ from those of the previous sample delivered. */
  readonly caps: Caps | null
  /**
   * Returns the buffer to GStreamer and detaches `data`. May be called more than once. A sample that is not released counts
   * against `queue` until it is garbage-collected.
   */
  release(): void
}

export interface SampleStream {
  /** Samples `delivered` to JavaScript, and `dropped` because the queue was full. */
  stats(): { delivered: number; dropped: number }
  /** Stops delivery. Samples that are held remain valid, and the appsink discards new ones. */
  close(): void
}
