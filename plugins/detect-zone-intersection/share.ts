import type { BBox, Point } from '@eyrie/element'

/** Share of a rectangle's area that lies in a simple polygon, concave or not: 0..1; 0 for a rectangle without area. */
export function shareInside({ x, y, w, h }: BBox, polygon: readonly Point[]): number {
  const area = w * h
  const [right, bottom] = [x + w, y + h]
  if (area === 0 || isApart(polygon, x, y, right, bottom)) return 0
  return Math.min(1, Math.abs(signedArea(clip(polygon, x, y, right, bottom))) / area)
}

/** Whether all of it lies beyond one side of the rectangle: most objects are far from a zone. */
function isApart(polygon: readonly Point[], left: number, top: number, right: number, bottom: number) {
  return (
    polygon.every(p => p.x < left) ||
    polygon.every(p => p.x > right) ||
    polygon.every(p => p.y < top) ||
    polygon.every(p => p.y > bottom)
  )
}

/**
 * Sutherland and Hodgman 1974, "Reentrant Polygon Clipping". Where a concave polygon falls into pieces, the pieces stay
 * joined by edges that run to and fro along the rectangle's side, and these enclose no area.
 */
function clip(polygon: readonly Point[], left: number, top: number, right: number, bottom: number): Point[] {
  const sides: ((p: Point) => number)[] = [
    p => p.x - left,
    p => right - p.x,
    p => p.y - top,
    p => bottom - p.y,
  ]
  return sides.reduce<Point[]>(
    (clipped, depth) => clipped.flatMap((p, i) => kept(clipped.at(i - 1)!, p, depth)),
    [...polygon],
  )
}

/** What one side leaves of the edge from `from` to `to`, without its first point. */
function kept(from: Point, to: Point, depth: (p: Point) => number): Point[] {
  const [before, after] = [depth(from), depth(to)]
  if (before < 0 && after < 0) return []
  if (before >= 0 && after >= 0) return [to]
  const t = before / (before - after)
  const cut = { x: from.x + t * (to.x - from.x), y: from.y + t * (to.y - from.y) }
  return after >= 0 ? [cut, to] : [cut]
}

function signedArea(polygon: readonly Point[]): number {
  return polygon.reduce((sum, p, i) => {
    const q = polygon.at(i - 1)!
    return sum + (q.x * p.y - p.x * q.y) / 2
  }, 0)
}
