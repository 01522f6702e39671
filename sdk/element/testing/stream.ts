import type { DetectedObject } from '@eyrie/contract/object'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Frame, Picture } from '../frame.ts'

const MICROSECONDS_PER_SECOND = 1_000_000

/** Frames per second, and size in pixels. */
interface FrameOptions {
  fps: number
  width: number
  height: number
}

/** Creates a frame without objects at its place in a stream that has begun with number 0. */
export function createFrame(n: number, { fps, width, height }: FrameOptions): Frame {
  const seconds = n / fps
  return {
    n,
    pts: Math.round(seconds * TICKS_PER_SECOND),
    time: Math.round(seconds * MICROSECONDS_PER_SECOND),
    discontinuity: false,
    width,
    height,
    objects: [],
    lowScoreObjects: [],
    counters: {},
  }
}

/** Creates a stream of frames with consecutive timestamps; `width` and `height` are in pixels. */
export function createStream(fps: number, { width = 1280, height = 720 } = {}) {
  let n = 0
  return {
    /** Returns the next frame, after dropping `skip` frames. */
    next(
      objects: DetectedObject[] = [],
      { skip = 0, discontinuity = false, lowScoreObjects = [] as DetectedObject[] } = {},
    ): Frame {
      n += 1 + skip
      return { ...createFrame(n, { fps, width, height }), discontinuity, objects, lowScoreObjects }
    },
  }
}

/**
 * Creates a seeded random number generator (a 32-bit linear congruential generator; normal deviates
 * by Box and Muller). `uniform` is in 0..1, `gauss` has mean 0 and standard deviation 1.
 */
export function createRandom(seed: number) {
  let state = seed
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const gauss = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
  return { uniform, gauss }
}

/** Size and format of a picture. */
interface PictureView {
  width: number
  height: number
  format: Exclude<ViewSpec['format'], 'JPEG'>
}

/** Bytes per pixel, all planes together. */
const BYTES_PER_PIXEL: Record<PictureView['format'], number> = {
  GRAY8: 1,
  I420: 1.5,
  RGB: 3,
  BGR: 3,
  RGBP: 3,
  BGRP: 3,
}

function countBytes({ width, height, format }: PictureView): number {
  // Planes with half the width and height have half of the next even number.
  const toEven = (pixels: number) => (format === 'I420' ? Math.ceil(pixels / 2) * 2 : pixels)
  return toEven(width) * toEven(height) * BYTES_PER_PIXEL[format]
}

/** Creates a picture without padding. `data` is zero by default. */
export function createPicture(view: PictureView, data?: Uint8Array): Picture {
  const { width, height, format } = view
  const bytes = countBytes(view)
  if (data && data.length !== bytes) {
    throw new Error(
      `a picture of ${width}×${height} in ${format} has ${bytes} bytes, not ${data.length}`,
    )
  }
  return {
    width,
    height,
    format,
    data: data ?? new Uint8Array(bytes),
    content: { x: 0, y: 0, width, height },
  }
}
