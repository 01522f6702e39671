/** Colours of a pixel, which are stored next to each other. */
const COLOURS = 3

/** The size of a picture in pixels. */
export interface Size {
  width: number
  height: number
}

/**
 * Returns a picture in another size. `pixels` are RGB or BGR, row by row without padding. The
 * filter is `BILINEAR` of Pillow, with which most classifiers are trained.
 */
export function resample(pixels: Uint8Array, from: Size, to: Size): Uint8ClampedArray {
  const rows = scaleWidth(pixels, from, to.width)
  return scaleHeight(rows, { width: to.width, height: from.height }, to.height)
}

/** Scales each row to `width` pixels. The colours are rounded only after the height is scaled. */
function scaleWidth(pixels: Uint8Array, from: Size, width: number): Float32Array {
  const windows = createWindows(from.width, width)
  const scaled = new Float32Array(width * from.height * COLOURS)
  for (let y = 0; y < from.height; y++) {
    for (let x = 0; x < width; x++) {
      const { start, weights } = windows[x]!
      const source = (y * from.width + start) * COLOURS
      const target = (y * width + x) * COLOURS
      for (let colour = 0; colour < COLOURS; colour++) {
        let sum = 0
        for (let i = 0; i < weights.length; i++) {
          sum += weights[i]! * pixels[source + i * COLOURS + colour]!
        }
        scaled[target + colour] = sum
      }
    }
  }
  return scaled
}

/** Scales each column to `height` pixels. The result array rounds the colours to 0..255. */
function scaleHeight(rows: Float32Array, from: Size, height: number): Uint8ClampedArray {
  const windows = createWindows(from.height, height)
  const rowLength = from.width * COLOURS
  const scaled = new Uint8ClampedArray(rowLength * height)
  for (let y = 0; y < height; y++) {
    const { start, weights } = windows[y]!
    const source = start * rowLength
    const target = y * rowLength
    for (let offset = 0; offset < rowLength; offset++) {
      let sum = 0
      for (let i = 0; i < weights.length; i++) {
        sum += weights[i]! * rows[source + i * rowLength + offset]!
      }
      scaled[target + offset] = sum
    }
  }
  return scaled
}

/** The neighbouring pixels of a row or column from which one scaled pixel is computed. */
interface PixelWindow {
  /** Position of the first pixel. */
  start: number
  /** The weight of each pixel. The sum of all weights is 1. */
  weights: Float32Array
}

/**
 * Returns the window of each scaled pixel, for a row or column of `oldLength` pixels that is scaled
 * to `newLength`. The weights are a triangle, which is highest at the centre of the scaled pixel.
 * If the picture becomes smaller, the triangle becomes wider, so that all pixels contribute.
 */
function createWindows(oldLength: number, newLength: number): PixelWindow[] {
  const scale = oldLength / newLength
  const radius = Math.max(1, scale)
  const windows: PixelWindow[] = []
  for (let position = 0; position < newLength; position++) {
    // The centre of a pixel is half a pixel after its position.
    const centre = (position + 0.5) * scale
    const start = Math.max(0, Math.floor(centre - radius))
    const end = Math.min(oldLength, Math.ceil(centre + radius))
    const triangle = new Float32Array(end - start)
    let sum = 0
    for (let pixel = start; pixel < end; pixel++) {
      const weight = Math.max(0, 1 - Math.abs(pixel + 0.5 - centre) / radius)
      triangle[pixel - start] = weight
      sum += weight
    }
    windows.push({ start, weights: triangle.map(weight => weight / sum) })
  }
  return windows
}
