import type { Caps } from './value.ts'

/** What becomes of a new sample when `queue` samples are waiting or held. */
export type WhenFull = 'drop-oldest' | 'drop-newest' | 'block'

export interface SampleOptions {
  /**
   * Most samples that may be out at once: those waiting for JavaScript and those handed over and not yet
   * released. At least 1.
   */
  queue: number
  /**
   * `block` holds the streaming thread until a sample is released (or the pipeline is taken down, or flushed);
   * `drop-oldest` throws away the oldest sample still waiting, or the new one when all are held.
   */
  full: WhenFull
}

/** One buffer from an appsink, mapped for reading. */
export interface Sample {
  /** The buffer's own memory, not a copy: empty after `release()`. */
  readonly data: Uint8Array
  /** Presentation time in 90 kHz ticks of stream time (see `Timeline`); null where the buffer has none. */
  readonly pts: number | null
  /** Decoding time in 90 kHz ticks of stream time; may lie before the timeline's start where pictures are reordered. */
  readonly dts: number | null
  /** In 90 kHz ticks. */
  readonly duration: number | null
  /** When the picture was taken, in µs since 1970, by the timeline's anchor; null where `pts` is. */
  readonly timeUs: number | null
  /** The buffer's own timestamp in ns, before any segment is applied. */
  readonly bufferPtsNs: number | null
  /** GST_BUFFER_OFFSET: the frame's number where `Pipeline.number` wrote one. */
  readonly offset: number | null
  /** Decodable on its own. */
  readonly keyframe: boolean
  /** Something is missing before this sample. */
  readonly discont: boolean
  /** Stream header rather than a picture. */
  readonly header: boolean
  /** Set on a stream's first sample and wherever the caps differ from those of the sample handed over before. */
  readonly caps: Caps | null
  /**
   * Gives the buffer back to GStreamer at once and detaches `data`. May be called more than once. A sample that
   * is dropped without it is given back only when the collector finds it, and counts against `queue` until then.
   */
  release(): void
}

export interface SampleStream {
  /** `delivered` to JavaScript, and `dropped` because the queue was full. */
  stats(): { delivered: number; dropped: number }
  /** No sample is delivered any more; those held stay valid. The appsink discards what comes. */
  close(): void
}
