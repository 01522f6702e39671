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
  const rows = resampleRows(pixels, from, to.width)
  const { firstPixels, weights } = createFilter(from.height, to.height)
  const rowLength = to.width * COLOURS
  const scaled = new Uint8ClampedArray(rowLength * to.height)
  for (let y = 0; y < to.height; y++) {
    const firstRow = firstPixels[y]! * rowLength
    const rowWeights = weights[y]!
    for (let x = 0; x < rowLength; x++) {
      let sum = 0
      for (let row = 0; row < rowWeights.length; row++) {
        sum += rowWeights[row]! * rows[firstRow + row * rowLength + x]!
      }
      scaled[y * rowLength + x] = sum
    }
  }
  return scaled
}

/** Scales each row to `width` pixels. */
function resampleRows(pixels: Uint8Array, from: Size, width: number): Float32Array {
  const { firstPixels, weights } = createFilter(from.width, width)
  const scaled = new Float32Array(width * from.height * COLOURS)
  for (let y = 0; y < from.height; y++) {
    for (let x = 0; x < width; x++) {
      const pixelWeights = weights[x]!
      const source = (y * from.width + firstPixels[x]!) * COLOURS
      const target = (y * width + x) * COLOURS
      for (let colour = 0; colour < COLOURS; colour++) {
        let sum = 0
        for (let pixel = 0; pixel < pixelWeights.length; pixel++) {
          sum += pixelWeights[pixel]! * pixels[source + pixel * COLOURS + colour]!
        }
        scaled[target + colour] = sum
      }
    }
  }
  return scaled
}

/**
 * The consecutive pixels along one axis from which each pixel of the scaled picture is computed.
 */
interface Filter {
  /** Position of the first of these pixels, by position in the scaled picture. */
  firstPixels: Int32Array
  /** Weights of these pixels, whose sum is 1, by position in the scaled picture. */
  weights: Float32Array[]
}

/**
 * Creates a triangle filter that scales from `oldLength` to `newLength` pixels. If that reduces the
 * picture, the triangle is widened, so that all pixels contribute.
 */
function createFilter(oldLength: number, newLength: number): Filter {
  const scale = oldLength / newLength
  const radius = Math.max(1, scale)
  const firstPixels = new Int32Array(newLength)
  const weights: Float32Array[] = []
  for (let position = 0; position < newLength; position++) {
    const center = (position + 0.5) * scale
    const start = Math.max(0, Math.floor(center - radius))
    const end = Math.min(oldLength, Math.ceil(center + radius))
    const triangle = new Float32Array(end - start)
    let sum = 0
    for (let pixel = start; pixel < end; pixel++) {
      const weight = Math.max(0, 1 - Math.abs(pixel + 0.5 - center) / radius)
      triangle[pixel - start] = weight
      sum += weight
    }
    firstPixels[position] = start
    weights.push(triangle.map(weight => weight / sum))
  }
  return { firstPixels, weights }
}
