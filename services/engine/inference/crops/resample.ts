/** Scales pictures of three interleaved colours. */

const COLOURS = 3

/** The pixels of one axis that contribute to each output pixel, and their weights, whose sum is 1. */
interface Taps {
  starts: Int32Array
  weights: Float32Array[]
}

/**
 * Computes a triangle filter that is widened when a picture is reduced, so that all of its pixels contribute: the filter
 * `BILINEAR` of Pillow, with which most classifiers are trained.
 */
function computeTaps(from: number, to: number): Taps {
  const scale = from / to
  const support = Math.max(1, scale)
  const starts = new Int32Array(to)
  const weights: Float32Array[] = []
  for (let i = 0; i < to; i++) {
    const center = (i + 0.5) * scale
    const start = Math.max(0, Math.floor(center - support))
    const end = Math.min(from, Math.ceil(center + support))
    const taps = new Float32Array(end - start)
    let sum = 0
    for (let j = start; j < end; j++) {
      const weight = Math.max(0, 1 - Math.abs(j + 0.5 - center) / support)
      taps[j - start] = weight
      sum += weight
    }
    starts[i] = start
    weights.push(taps.map(weight => weight / sum))
  }
  return { starts, weights }
}

/** The size of a picture in pixels. */
export interface Size {
  width: number
  height: number
}

/** Returns the picture in another size. `pixels` are RGB or BGR, row by row without padding. */
export function resample(pixels: Uint8Array, from: Size, to: Size): Uint8ClampedArray {
  const rows = resampleRows(pixels, from, to.width)
  const { starts, weights } = computeTaps(from.height, to.height)
  const rowLength = to.width * COLOURS
  const target = new Uint8ClampedArray(rowLength * to.height)
  for (let y = 0; y < to.height; y++) {
    const taps = weights[y]!
    for (let x = 0; x < rowLength; x++) {
      let sum = 0
      let at = starts[y]! * rowLength + x
      for (let tap = 0; tap < taps.length; tap++, at += rowLength) sum += taps[tap]! * rows[at]!
      target[y * rowLength + x] = sum
    }
  }
  return target
}

/** Scales each row to `width` pixels. */
function resampleRows(pixels: Uint8Array, from: Size, width: number): Float32Array {
  const { starts, weights } = computeTaps(from.width, width)
  const target = new Float32Array(width * from.height * COLOURS)
  for (let y = 0; y < from.height; y++) {
    for (let x = 0; x < width; x++) {
      const taps = weights[x]!
      const at = (y * from.width + starts[x]!) * COLOURS
      const end = (y * width + x) * COLOURS
      for (let colour = 0; colour < COLOURS; colour++) {
        let sum = 0
        for (let tap = 0; tap < taps.length; tap++) sum += taps[tap]! * pixels[at + tap * COLOURS + colour]!
        target[end + colour] = sum
      }
    }
  }
  return target
}
