import type { BBox, Point } from '@eyrie/element'

/**
 * Returns the share of a rectangle's area that lies inside a simple polygon, convex or concave: 0..1. The share of an
 * empty rectangle is 0.
 */
export function computeOverlapShare({ x, y, w, h }: BBox, polygon: readonly Point[]): number {
  const area = w * h
  const [right, bottom] = [x + w, y + h]
  if (area === 0 || isDisjoint(polygon, x, y, right, bottom)) return 0
  return Math.min(1, Math.abs(signedArea(clip(polygon, x, y, right, bottom))) / area)
}

/** Whether the polygon lies entirely beyond one side of the rectangle. Fast path: most objects are far from a zone. */
function isDisjoint(polygon: readonly Point[], left: number, top: number, right: number, bottom: number) {
  return (
    polygon.every(p => p.x < left) ||
    polygon.every(p => p.x > right) ||
    polygon.every(p => p.y < top) ||
    polygon.every(p => p.y > bottom)
  )
}

/**
 * Clips a polygon to a rectangle (Sutherland and Hodgman 1974, "Reentrant Polygon Clipping"). The pieces of a concave
 * polygon stay connected by edges that run back and forth along the rectangle and enclose no area.
 */
function clip(polygon: readonly Point[], left: number, top: number, right: number, bottom: number): Point[] {
  const insideDistances: ((p: Point) => number)[] = [
    p => p.x - left,
    p => right - p.x,
    p => p.y - top,
    p => bottom - p.y,
  ]
  return insideDistances.reduce<Point[]>(
    (clipped, insideDistance) => clipped.flatMap((p, i) => clipEdge(clipped.at(i - 1)!, p, insideDistance)),
    [...polygon],
  )
}

/** Returns the vertices after `from` that remain of the edge `from`–`to`. */
function clipEdge(from: Point, to: Point, insideDistance: (p: Point) => number): Point[] {
  const [before, after] = [insideDistance(from), insideDistance(to)]
  if (before < 0 && after < 0) return []
  if (before >= 0 && after >= 0) return [to]
  const t = before / (before - after)
  const intersection = { x: from.x + t * (to.x - from.x), y: from.y + t * (to.y - from.y) }
  return after >= 0 ? [intersection, to] : [intersection]
}

/** Shoelace formula. */
function signedArea(polygon: readonly Point[]): number {
  return polygon.reduce((sum, p, i) => {
    const q = polygon.at(i - 1)!
    return sum + (q.x * p.y - p.x * q.y) / 2
  }, 0)
}
