import type { BBox, Point } from '@eyrie/element'

/**
 * Counts how often the step `from` → `to` crosses a polyline: +1 from left to right and −1 from right to left, seen from
 * the polyline's first point towards its last (y points down).
 *
 * Touching the line or moving along it is not a crossing; passing through a vertex is one. Such degenerate cases are
 * resolved as if each position were shifted by (ε, ε²) for an infinitesimal ε (Edelsbrunner and Mücke 1990, "Simulation
 * of Simplicity"), so the sum over a path does not depend on how the path is divided into steps.
 */
export function netCrossings(from: Point, to: Point, line: readonly Point[]): number {
  let net = 0
  for (let i = 1; i < line.length; i++) net += crossSegment(from, to, line[i - 1]!, line[i]!)
  return net
}

/** Extends a polyline at both ends by a factor of 1e-9, so that a step through an end point crosses it. */
export function extendEnds(line: readonly Point[]): Point[] {
  const [first, second] = line
  const [beforeLast, last] = line.slice(-2)
  return [extend(second!, first!), ...line.slice(1, -1), extend(beforeLast!, last!)]
}

/** Distance of a point from a polyline, with box widths as the unit of x and box heights as the unit of y. */
export function distanceInBoxes(line: readonly Point[], point: Point, { w, h }: BBox): number {
  const relative = line.map(({ x, y }) => ({
    x: (x - point.x) / Math.max(w, Number.EPSILON),
    y: (y - point.y) / Math.max(h, Number.EPSILON),
  }))
  let min = Number.POSITIVE_INFINITY
  for (let i = 1; i < relative.length; i++)
    min = Math.min(min, distanceFromOrigin(relative[i - 1]!, relative[i]!))
  return min
}

function crossSegment(from: Point, to: Point, a: Point, b: Point): number {
  const before = sideOf(a, b, from, +1)
  const after = sideOf(a, b, to, +1)
  if (before === after || sideOf(from, to, a, -1) === sideOf(from, to, b, -1)) return 0
  return after
}

/** Side of the line `a` → `b` on which `p` lies: left −1, right +1. On the line, a shift of `p` by (ε, ε²) decides. */
function sideOf(a: Point, b: Point, p: Point, shift: 1 | -1): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  return Math.sign(dx * (p.y - a.y) - dy * (p.x - a.x)) || shift * Math.sign(-dy || dx)
}

function extend(from: Point, to: Point): Point {
  return { x: to.x + (to.x - from.x) * 1e-9, y: to.y + (to.y - from.y) * 1e-9 }
}

/** Distance of the segment `a`–`b` from (0, 0). */
function distanceFromOrigin(a: Point, b: Point): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const lengthSquared = dx * dx + dy * dy
  const projection = lengthSquared === 0 ? 0 : -(a.x * dx + a.y * dy) / lengthSquared
  const t = Math.min(1, Math.max(0, projection))
  return Math.hypot(a.x + t * dx, a.y + t * dy)
}
