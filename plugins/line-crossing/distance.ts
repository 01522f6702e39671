import type { BBox, Point } from '@eyrie/element'

/** Distance of a point from a line, in sizes of a box: one box width across, one box height down. */
export function boxesFrom(line: readonly Point[], point: Point, { w, h }: BBox): number {
  const seen = line.map(({ x, y }) => ({
    x: (x - point.x) / Math.max(w, Number.EPSILON),
    y: (y - point.y) / Math.max(h, Number.EPSILON),
  }))
  let least = Number.POSITIVE_INFINITY
  for (let i = 1; i < seen.length; i++) least = Math.min(least, fromOrigin(seen[i - 1]!, seen[i]!))
  return least
}

/** Distance of the segment from a to b from (0, 0). */
function fromOrigin(a: Point, b: Point): number {
  const dx = b.x - a.x
  const dy = b.y - a.y
  const length2 = dx * dx + dy * dy
  const along = length2 === 0 ? 0 : -(a.x * dx + a.y * dy) / length2
  const nearest = Math.min(1, Math.max(0, along))
  return Math.hypot(a.x + nearest * dx, a.y + nearest * dy)
}
