/**
 * Measurements of one small picture, by which a camera that is covered, defocused or
 * moved is recognized.
 */
export interface PictureMeasures {
  /** Mean luma, 0 to 255. */
  brightness: number
  /** Standard deviation of the luma. */
  contrast: number
  /**
   * Energy of the finest details in proportion to the energy of the edges. A defocused picture has
   * edges, but no fine details.
   */
  sharpness: number
  /**
   * The main direction of the edges in each cell of a grid: a vector of two numbers for
   * each cell, row by row.
   */
  edges: Int8Array
}

/**
 * Size of the examined pictures. Their aspect ratio is ignored, so that every camera has the same
 * grid.
 */
export const EXAMINED_SIZE = { width: 320, height: 180 } as const

/** Size of the grid, in cells. */
const COLUMNS = 16
const ROWS = 9
const CELL_COUNT = COLUMNS * ROWS
/** Edges are measured in a picture of half the size, which has less noise. */
const HALF_SIZE = { width: EXAMINED_SIZE.width / 2, height: EXAMINED_SIZE.height / 2 }
/** Size of a cell, in pixels of the picture of half the size. */
const CELL = { width: HALF_SIZE.width / COLUMNS, height: HALF_SIZE.height / ROWS }
/** Length of the vector of a cell whose edges all have the same direction. */
const MAX_COMPONENT = 127
/** Squared gradient of sensor noise. It makes the vectors of cells without stronger edges short. */
const NOISE_ENERGY = 64
/** Added to the energy of the edges, so that a picture without edges is not divided by zero. */
const MIN_EDGE_ENERGY = 1

/** Measures a picture of `EXAMINED_SIZE`, with one byte of luma for each pixel. */
export function measurePicture(luma: Uint8Array): PictureMeasures {
  const { brightness, contrast } = measureLevels(luma)
  const { edges, meanEnergy } = measureEdges(halve(luma))
  const sharpness = measureDetailEnergy(luma) / (meanEnergy + MIN_EDGE_ENERGY)
  return { brightness, contrast, sharpness, edges }
}

function measureLevels(luma: Uint8Array): Pick<PictureMeasures, 'brightness' | 'contrast'> {
  let sum = 0
  let sumOfSquares = 0
  for (const value of luma) {
    sum += value
    sumOfSquares += value * value
  }
  const brightness = sum / luma.length
  const variance = sumOfSquares / luma.length - brightness * brightness
  // Rounding may make the variance of a uniform picture slightly negative.
  return { brightness, contrast: Math.sqrt(Math.max(0, variance)) }
}

/**
 * Returns the mean square of the Laplacian, the difference between a pixel and its four neighbours,
 * which responds to the finest details.
 */
function measureDetailEnergy(luma: Uint8Array): number {
  const { width, height } = EXAMINED_SIZE
  let sumOfSquares = 0
  for (let y = 1; y < height - 1; y += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      const pixel = y * width + x
      const horizontal = luma[pixel - 1]! + luma[pixel + 1]!
      const vertical = luma[pixel - width]! + luma[pixel + width]!
      const laplacian = 4 * luma[pixel]! - horizontal - vertical
      sumOfSquares += laplacian * laplacian
    }
  }
  return sumOfSquares / ((width - 2) * (height - 2))
}

/**
 * Returns the picture in half the size. Each of its pixels is the mean of four
 * pixels, rounded down.
 */
function halve(luma: Uint8Array): Uint8Array {
  const { width } = EXAMINED_SIZE
  const half = new Uint8Array(HALF_SIZE.width * HALF_SIZE.height)
  for (let y = 0; y < HALF_SIZE.height; y += 1) {
    for (let x = 0; x < HALF_SIZE.width; x += 1) {
      const pixel = 2 * y * width + 2 * x
      const upper = luma[pixel]! + luma[pixel + 1]!
      const lower = luma[pixel + width]! + luma[pixel + width + 1]!
      half[y * HALF_SIZE.width + x] = Math.floor((upper + lower) / 4)
    }
  }
  return half
}

/**
 * Returns the directions of the edges by cell, and the mean energy of a pixel, which is its squared
 * gradient.
 *
 * A direction is the mean gradient with its angle doubled (structure tensor, Bigün and Granlund
 * 1987). Doubled angles are equal for opposite gradients, so the direction does not depend on which
 * side of an edge is brighter. The division by the energy makes it independent of the light.
 */
function measureEdges(half: Uint8Array): { edges: Int8Array; meanEnergy: number } {
  const { width, height } = HALF_SIZE
  // By cell: the sums of the components of the gradients with doubled angle, and of their energies.
  const sumsX = new Float64Array(CELL_COUNT)
  const sumsY = new Float64Array(CELL_COUNT)
  const energies = new Float64Array(CELL_COUNT)

  for (let y = 1; y < height - 1; y += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      const pixel = y * width + x
      const dx = half[pixel + 1]! - half[pixel - 1]!
      const dy = half[pixel + width]! - half[pixel - width]!

      const cell = Math.floor(y / CELL.height) * COLUMNS + Math.floor(x / CELL.width)
      sumsX[cell]! += dx * dx - dy * dy
      sumsY[cell]! += 2 * dx * dy
      energies[cell]! += dx * dx + dy * dy
    }
  }

  const cellPixels = CELL.width * CELL.height
  const edges = new Int8Array(CELL_COUNT * 2)
  for (const [cell, energy] of energies.entries()) {
    const scale = MAX_COMPONENT / (energy + NOISE_ENERGY * cellPixels)
    edges[cell * 2] = Math.round(sumsX[cell]! * scale)
    edges[cell * 2 + 1] = Math.round(sumsY[cell]! * scale)
  }

  const totalEnergy = energies.reduce((sum, energy) => sum + energy, 0)
  return { edges, meanEnergy: totalEnergy / (CELL_COUNT * cellPixels) }
}
