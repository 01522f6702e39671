export interface RingOptions {
  /** Path of the ring file, which is created under a temporary name and renamed. */
  path: string
  /** Number of frames that it holds; at least 2. */
  slots: number
  /** Size of the view in pixels. */
  width: number
  height: number
  /** GStreamer's name for an 8-bit format: `I420`, `NV12`, `GRAY8`, `RGB`, `BGR`, `RGBP`, `BGRP`, ...; or `JPEG`. */
  format: string
  /** The rectangle of the view that the scaled picture covers. `x` and `y` must be multiples of the format's chroma subsampling. */
  content: { x: number; y: number; width: number; height: number }
  /**
   * Color around the content: one value per component in the format's order (Y, U, V or R, G, B), or one for all.
   * Unused for JPEG, which has no padding.
   */
  fill: readonly number[]
  /** Distinguishes this ring from earlier ones at the same path. */
  generation: number
  /** Identifies the origin of stream time. */
  epoch: number
  /** Size of the decoded picture that the view is scaled from. */
  sourceWidth: number
  sourceHeight: number
  /** Capacity of a slot for JPEG, in bytes; larger pictures are dropped. */
  payloadLimit?: number
  /** Maximum size of the ring in bytes. */
  bytesLimit?: number
  /** `newest` (default): the writer never waits. `all`: it waits for a grant of each frame. */
  pacing?: Pacing
}

export type Pacing = 'newest' | 'all'

export interface RingStats {
  written: number
  /** Frames that could not be written (size, format, number), or were waiting for a grant when the ring was closed. */
  dropped: number
  /** Total time that the writer has waited for grants, in ns. */
  waitedNs: number
}

/**
 * The writing side of a view: a sequence-locked ring of frames in a file, ideally on tmpfs. `sdk/contract/ring.ts` defines
 * the layout for readers. Only one pipeline at a time writes into a ring, by `Pipeline.toRing`; another one may continue.
 *
 * The constructor throws if an option is out of range or the file cannot be created, and then leaves no file behind.
 */
export interface Ring {
  readonly path: string
  /** Size of the file. */
  readonly bytes: number
  /** Allows the writer to write the frames up to `n`, with pacing `all`. A lower `n` than before has no effect. */
  grant(n: number): void
  setPacing(pacing: Pacing): void
  stats(): RingStats
  /** Wakes a waiting writer, drops further frames and removes the file. May be called more than once. */
  close(): void
}
