import type { Caps } from './value.ts'

/**
 * A picture, sound packet or other buffer that a pipeline passes to JavaScript through an appsink.
 */
export interface Sample {
  /** Memory of the buffer, not a copy. Empty after `release()`. */
  readonly data: Uint8Array
  /**
   * Presentation time in 90 kHz ticks of stream time (see `Timeline`); null if the
   * buffer has no timestamp.
   */
  readonly pts: number | null
  /**
   * Decode time in 90 kHz ticks of stream time. May be before the start of the timeline if the
   * stream has B-frames.
   */
  readonly dts: number | null
  /** In 90 kHz ticks. */
  readonly duration: number | null
  /** Capture time in µs since 1970, from the anchor of the timeline; null if `pts` is null. */
  readonly timeUs: number | null
  /** Presentation time in 90 kHz ticks of the pipeline's running time; null if `pts` is null. */
  readonly runningTicks: number | null
  /** Timestamp of the buffer in ns, before the GStreamer segment is applied. */
  readonly bufferPtsNs: number | null
  /** GST_BUFFER_OFFSET, which is the number of the frame if `Pipeline.number` has assigned one. */
  readonly offset: number | null
  /** Whether the sample can be decoded without others. */
  readonly keyframe: boolean
  /** Whether data is missing before this sample. */
  readonly discont: boolean
  /** Whether the sample is a stream header instead of a picture. */
  readonly header: boolean
  /**
   * Caps of the first sample, and of a sample whose caps differ from those of the previous
   * one; null otherwise.
   */
  readonly caps: Caps | null
  /**
   * Returns the buffer to GStreamer and detaches `data`. May be called repeatedly. A sample that is
   * not released occupies the queue until it is garbage-collected.
   */
  release(): void
}

/** Delivers the samples of an appsink to JavaScript. */
export interface SampleStream {
  /**
   * Returns the number of samples delivered to JavaScript, and dropped because the queue was full.
   */
  stats(): { delivered: number; dropped: number }
  /** Stops delivery. Delivered samples remain valid, and the appsink discards new samples. */
  close(): void
}

/** Action for a new sample while the queue is full. */
export type WhenFull = 'drop-oldest' | 'drop-newest' | 'block'

export interface SampleOptions {
  /**
   * Maximum number of samples that wait for JavaScript, or were delivered and not yet
   * released. At least 1.
   */
  queue: number
  /**
   * `block` blocks the streaming thread until a sample is released, or the pipeline is stopped or
   * flushed. `drop-oldest` drops the oldest waiting sample, or the new one if no sample is waiting.
   */
  full: WhenFull
}
