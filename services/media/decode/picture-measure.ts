/** What is measured in one small picture. */
export interface PictureMeasures {
  /** Mean luma, 0 to 255. */
  brightness: number
  /** Standard deviation of the luma. */
  contrast: number
  /** Energy of the finest details in relation to the edges. */
  sharpness: number
  /** The main direction of the edges in each cell of the grid: two signed numbers for each cell, row by row. */
  edges: Int8Array
}

/** Size of the examined pictures. Their aspect ratio is ignored, so that every camera has the same grid. */
export const EXAMINED_SIZE = { width: 320, height: 180 } as const

const COLUMNS = 16
const ROWS = 9
/** Edges are measured in a picture of half the size, which has less noise. */
const HALF = { width: EXAMINED_SIZE.width / 2, height: EXAMINED_SIZE.height / 2 }
const CELL = { width: HALF.width / COLUMNS, height: HALF.height / ROWS }
const MAX_COMPONENT = 127
/** Squared gradient that the noise of a sensor reaches. Cells without stronger edges have no direction. */
const NOISE = 64

/** Measures a picture of `EXAMINED_SIZE`, with one byte of luma for each pixel. */
export function measurePicture(luma: Uint8Array): PictureMeasures {
  const { brightness, contrast } = measureLevels(luma)
  const half = halve(luma)
  const { edges, energy } = measureEdges(half)
  return { brightness, contrast, sharpness: measureDetail(luma) / (energy + 1), edges }
}

function measureLevels(luma: Uint8Array) {
  let sum = 0
  let squares = 0
  for (const value of luma) {
    sum += value
    squares += value * value
  }
  const brightness = sum / luma.length
  const variance = squares / luma.length - brightness * brightness
  return { brightness, contrast: Math.sqrt(Math.max(0, variance)) }
}

/** Returns the mean square of the Laplacian, which responds to the finest details. */
function measureDetail(luma: Uint8Array): number {
  const { width, height } = EXAMINED_SIZE
  let squares = 0
  for (let y = 1; y < height - 1; y += 1) {
    for (let i = y * width + 1; i < (y + 1) * width - 1; i += 1) {
      const laplacian = 4 * luma[i]! - luma[i - 1]! - luma[i + 1]! - luma[i - width]! - luma[i + width]!
      squares += laplacian * laplacian
    }
  }
  return squares / ((width - 2) * (height - 2))
}

/** Returns the picture in half the size. */
function halve(luma: Uint8Array): Uint8Array {
  const half = new Uint8Array(HALF.width * HALF.height)
  for (let y = 0; y < HALF.height; y += 1) {
    for (let x = 0; x < HALF.width; x += 1) {
      const i = 2 * y * EXAMINED_SIZE.width + 2 * x
      const sum =
        luma[i]! + luma[i + 1]! + luma[i + EXAMINED_SIZE.width]! + luma[i + EXAMINED_SIZE.width + 1]!
      half[y * HALF.width + x] = sum >> 2
    }
  }
  return half
}

/**
 * Returns the directions of the edges by cell, and the mean energy of all edges. A direction is the mean gradient with its
 * angle doubled (structure tensor, Bigün and Granlund 1987), so that it depends neither on the sign of the contrast nor,
 * after the division by the energy, on the light.
 */
function measureEdges(half: Uint8Array): { edges: Int8Array; energy: number } {
  const { width, height } = HALF
  const sums = new Float64Array(COLUMNS * ROWS * 3)
  for (let y = 1; y < height - 1; y += 1) {
    const row = Math.floor(y / CELL.height) * COLUMNS
    for (let x = 1; x < width - 1; x += 1) {
      const i = y * width + x
      const dx = half[i + 1]! - half[i - 1]!
      const dy = half[i + width]! - half[i - width]!
      const cell = (row + Math.floor(x / CELL.width)) * 3
      sums[cell]! += dx * dx - dy * dy
      sums[cell + 1]! += 2 * dx * dy
      sums[cell + 2]! += dx * dx + dy * dy
    }
  }

  const pixels = CELL.width * CELL.height
  const edges = new Int8Array(COLUMNS * ROWS * 2)
  let energy = 0
  for (let cell = 0; cell < COLUMNS * ROWS; cell += 1) {
    const total = sums[cell * 3 + 2]!
    const scale = MAX_COMPONENT / (total + NOISE * pixels)
    edges[cell * 2] = Math.round(sums[cell * 3]! * scale)
    edges[cell * 2 + 1] = Math.round(sums[cell * 3 + 1]! * scale)
    energy += total
  }
  return { edges, energy: energy / (COLUMNS * ROWS * pixels) }
}
