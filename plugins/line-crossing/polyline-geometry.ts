import type { BBox, Point } from '@eyrie/element'

/** Extension of a segment as a share of its length. */
const EXTENSION = 1e-9

/**
 * Counts how often the step `from` → `to` crosses a polyline, a line of connected segments: +1
 * from left to right and −1 from right to left, seen from the polyline's first point towards its
 * last (y points down).
 *
 * Touching the line or moving along it is not a crossing; passing through a vertex is one. Such
 * degenerate cases are resolved as if each position were shifted by (ε, ε²) for an infinitesimal ε
 * (Edelsbrunner and Mücke 1990, "Simulation of Simplicity"), so the sum over a path does not depend
 * on how the path is divided into steps.
 */
export function countNetCrossings(from: Point, to: Point, line: readonly Point[]): number {
  let net = 0
  for (let i = 1; i < line.length; i++) net += crossSegment(from, to, line[i - 1]!, line[i]!)
  return net
}

/**
 * Extends a polyline slightly at both ends, so that a step through an end point crosses the line.
 */
export function extendEnds(line: readonly Point[]): Point[] {
  const [first, second] = line
  const [beforeLast, last] = line.slice(-2)
  return [extend(second!, first!), ...line.slice(1, -1), extend(beforeLast!, last!)]
}

/**
 * Returns the distance of a point from a polyline. Its units are the width of the box along x,
 * and the height along y.
 */
export function measureDistance(line: readonly Point[], point: Point, { w, h }: BBox): number {
  // The polyline relative to the point, so that the distance is that from the origin.
  const relative = line.map(({ x, y }) => ({
    x: (x - point.x) / Math.max(w, Number.EPSILON),
    y: (y - point.y) / Math.max(h, Number.EPSILON),
  }))
  let min = Number.POSITIVE_INFINITY
  for (let i = 1; i < relative.length; i++) {
    min = Math.min(min, distanceFromOrigin(relative[i - 1]!, relative[i]!))
  }
  return min
}

/** Returns +1 or −1 if the step `from` → `to` crosses the segment `a`–`b`, otherwise 0. */
function crossSegment(from: Point, to: Point, a: Point, b: Point): number {
  const before = sideOf(a, b, from, 1)
  const after = sideOf(a, b, to, 1)
  if (before === after) return 0
  // To shift the positions of the step forward is the same as to shift the segment backward.
  const isBetweenEnds = sideOf(from, to, a, -1) !== sideOf(from, to, b, -1)
  return isBetweenEnds ? after : 0
}

/**
 * Returns the side of the line `a` → `b` on which a point lies: left −1, right +1. For a point
 * on the line, an infinitesimal shift by (ε, ε²) decides: forward if `shift` is 1, and
 * backward if it is −1.
 */
function sideOf(a: Point, b: Point, point: Point, shift: 1 | -1): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const side = Math.sign(dx * (point.y - a.y) - dy * (point.x - a.x))
  if (side !== 0) return side
  // The shift along x, ε, is greater than that along y. The latter decides only if
  // the line is horizontal.
  return shift * (dy === 0 ? Math.sign(dx) : -Math.sign(dy))
}

function extend(from: Point, to: Point): Point {
  return { x: to.x + (to.x - from.x) * EXTENSION, y: to.y + (to.y - from.y) * EXTENSION }
}

/** Distance of the segment `a`–`b` from (0, 0). */
function distanceFromOrigin(a: Point, b: Point): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const lengthSquared = dx * dx + dy * dy
  const projection = lengthSquared === 0 ? 0 : -(a.x * dx + a.y * dy) / lengthSquared
  // The closest point is within the segment, even if the projection of the origin is outside.
  const share = Math.min(1, Math.max(0, projection))
  return Math.hypot(a.x + share * dx, a.y + share * dy)
}
