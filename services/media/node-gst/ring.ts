/**
 * A ring buffer of decoded frames in a file, ideally on tmpfs, through which the media service
 * passes pictures to other processes. Readers access it without locks: sequence numbers reveal
 * frames that were overwritten while they were read. `sdk/contract/ring.ts` defines the layout.
 *
 * `Pipeline.toRing` writes into a ring. Only one pipeline may write at a time. When it has stopped,
 * another one may continue after its last frame.
 *
 * `new Ring(options)` throws if an option is out of range or the file cannot be created. No file
 * remains in this case.
 */
export interface Ring {
  readonly path: string
  /** Size of the file in bytes. */
  readonly bytes: number
  /**
   * With pacing `all`, allows the writer to write the frames up to number `n`, counted from 1. A
   * lower `n` than before has no effect.
   */
  grant(n: number): void
  setPacing(pacing: Pacing): void
  stats(): RingStats
  /**
   * Removes the file. A waiting writer continues, and further frames are dropped. May
   * be called repeatedly.
   */
  close(): void
}

export interface RingOptions {
  /** Path of the ring file. The file is created under a temporary name and then renamed. */
  path: string
  /** Number of frames in the ring; at least 2. */
  slots: number
  /** Size in pixels of the view, which is the scaled picture with its padding. */
  width: number
  height: number
  /**
   * 8-bit pixel format, by its name in GStreamer: `I420`, `NV12`, `GRAY8`, `RGB`, `BGR`, `RGBP`,
   * `BGRP`, …; or `JPEG`.
   */
  format: string
  /**
   * The rectangle of the view that the scaled picture covers. `x` and `y` must be multiples of the
   * format's chroma subsampling.
   */
  content: { x: number; y: number; width: number; height: number }
  /**
   * Colour around the content: one value per component in the order of the format (Y, U, V or R, G,
   * B), or one value for all components. Unused for JPEG, which has no padding.
   */
  fill: readonly number[]
  /** Distinguishes this ring from earlier ones at the same path. */
  generation: number
  /**
   * Start of the service that writes the ring. Stream times of different epochs are not comparable.
   */
  epoch: number
  /** Size of the decoded picture from which the view is scaled. */
  sourceWidth: number
  sourceHeight: number
  /** Maximum size of a JPEG in bytes. Larger pictures are dropped. Required for JPEG only. */
  payloadLimit?: number
  /** Maximum size of the ring in bytes. Unlimited by default. */
  bytesLimit?: number
  /** `newest` by default. */
  pacing?: Pacing
}

/**
 * With `newest`, the writer never waits. With `all`, it waits until each frame is granted, so that
 * readers miss no frame.
 */
export type Pacing = 'newest' | 'all'

export interface RingStats {
  /** Number of frames that were written. */
  written: number
  /**
   * Number of frames that were not written: those with a wrong size, format or number, and those
   * that waited for a grant when the ring was closed.
   */
  dropped: number
  /** Total time that the writer has waited for grants, in ns. */
  waitedNs: number
}
