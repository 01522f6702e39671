export interface RingOptions {
  /** Where the ring is to appear: made under a temporary name, then renamed. */
  path: string
  /** How many frames it holds; at least 2. */
  slots: number
  /** Size of the view in pixels. */
  width: number
  height: number
  /** GStreamer's name of an 8-bit format: `I420`, `NV12`, `GRAY8`, `RGB`, `BGR`, `RGBP`, `BGRP`, ...; or `JPEG`. */
  format: string
  /** Where in the view the scaled picture lies. `x` and `y` must be multiples of the format's chroma subsampling. */
  content: { x: number; y: number; width: number; height: number }
  /**
   * What surrounds the content: one value a component in the format's order (Y, U, V or R, G, B), or one for all.
   * JPEG has nothing around it.
   */
  fill: readonly number[]
  /** Tells this ring from an earlier one of the same path. */
  generation: number
  /** Of the stream time; see `pts`. */
  epoch: number
  /** Size of the decoded picture that the view is scaled from. */
  sourceWidth: number
  sourceHeight: number
  /** Bytes that a slot of JPEG holds; a larger picture is dropped. */
  payloadLimit?: number
  /** Refuse to make a ring of more bytes than this. */
  bytesLimit?: number
  /** `newest` (default): the writer never waits. `all`: it waits before every frame beyond the granted one. */
  pacing?: Pacing
}

export type Pacing = 'newest' | 'all'

export interface RingStats {
  written: number
  /** Frames that did not fit (size, format, number), and those that waited for a grant when the ring was closed. */
  dropped: number
  /** How long the writer has waited for grants, in ns. */
  waitedNs: number
}

/**
 * The writing side of a view: a sequence-locked ring of frames in a file, ideally on tmpfs.
 * `sdk/contract/ring.ts` reads it. Give it to `Pipeline.toRing`; one pipeline writes it at a time, and a later
 * one may go on where an earlier one ended.
 *
 * The constructor throws when an option is out of range or the file cannot be made, and leaves nothing behind.
 */
export interface Ring {
  readonly path: string
  /** Of the whole file, in bytes. */
  readonly bytes: number
  /** Lets the writer go as far as frame `n`, with pacing `all`. Never takes a grant back. */
  grant(n: number): void
  setPacing(pacing: Pacing): void
  stats(): RingStats
  /** Wakes a waiting writer, drops what still comes and removes the file. May be called more than once. */
  close(): void
}
