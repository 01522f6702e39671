import type { Point } from '@eyrie/element'

/** A 3×3 matrix in row-major order. */
type Matrix = readonly [number, number, number, number, number, number, number, number, number]

/**
 * A mapping between two planes that are seen in perspective, such as from the positions of people
 * in the picture to positions on the floor. Returns undefined for points on or beyond the horizon.
 */
export type Homography = (point: Point) => Point | undefined

/**
 * Computes the homography that maps the corners `from` to the corners `to`, via the unit square.
 * Both must be the corners of a convex quadrilateral, listed in order around it.
 */
export function computeHomography(from: readonly Point[], to: readonly Point[]): Homography {
  const matrix = multiply(mapFromUnitSquare(to), computeAdjugate(mapFromUnitSquare(from)))
  const [a, b, c, d, e, f] = matrix

  // A homography is defined up to scale, sign included. Points in front of the camera have the same
  // sign as the corners.
  const sign = Math.sign(computeDivisor(matrix, from[0]!))

  return ({ x, y }) => {
    const divisor = computeDivisor(matrix, { x, y })
    if (divisor * sign <= 0) return undefined
    return { x: (a * x + b * y + c) / divisor, y: (d * x + e * y + f) / divisor }
  }
}

/**
 * Returns the homography from the unit square (0, 0), (1, 0), (1, 1), (0, 1) to the given corners
 * (Heckbert 1989, "Fundamentals of Texture Mapping and Image Warping", section 2.2.3).
 */
function mapFromUnitSquare(corners: readonly Point[]): Matrix {
  const [p0, p1, p2, p3] = corners as [Point, Point, Point, Point]
  const sumX = p0.x - p1.x + p2.x - p3.x
  const sumY = p0.y - p1.y + p2.y - p3.y
  const dx1 = p1.x - p2.x
  const dy1 = p1.y - p2.y
  const dx2 = p3.x - p2.x
  const dy2 = p3.y - p2.y

  const determinant = dx1 * dy2 - dx2 * dy1
  const g = (sumX * dy2 - dx2 * sumY) / determinant
  const h = (dx1 * sumY - sumX * dy1) / determinant

  return [
    p1.x - p0.x + g * p1.x,
    p3.x - p0.x + h * p3.x,
    p0.x,
    p1.y - p0.y + g * p1.y,
    p3.y - p0.y + h * p3.y,
    p0.y,
    g,
    h,
    1,
  ]
}

/** Returns the inverse up to scale, which is irrelevant for a homography. */
function computeAdjugate([a, b, c, d, e, f, g, h, i]: Matrix): Matrix {
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ]
}

function multiply([a, b, c, d, e, f, g, h, i]: Matrix, m: Matrix): Matrix {
  return [
    a * m[0] + b * m[3] + c * m[6],
    a * m[1] + b * m[4] + c * m[7],
    a * m[2] + b * m[5] + c * m[8],
    d * m[0] + e * m[3] + f * m[6],
    d * m[1] + e * m[4] + f * m[7],
    d * m[2] + e * m[5] + f * m[8],
    g * m[0] + h * m[3] + i * m[6],
    g * m[1] + h * m[4] + i * m[7],
    g * m[2] + h * m[5] + i * m[8],
  ]
}

/**
 * Returns the homogeneous coordinate w of a mapped point, by which the other two are divided. It
 * is 0 on the horizon.
 */
function computeDivisor(matrix: Matrix, { x, y }: Point): number {
  return matrix[6] * x + matrix[7] * y + matrix[8]
}
