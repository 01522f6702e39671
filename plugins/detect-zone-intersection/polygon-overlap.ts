import type { BBox, Point } from '@eyrie/element'

/**
 * Returns the share of a rectangle's area that lies inside a simple polygon, from 0 to 1. The
 * polygon may be concave. The share of an empty rectangle is 0.
 */
export function computeOverlapShare(rectangle: BBox, polygon: readonly Point[]): number {
  const area = rectangle.w * rectangle.h
  if (area === 0 || isDisjoint(polygon, rectangle)) return 0
  const overlap = clip(polygon, rectangle)
  return Math.min(1, Math.abs(computeSignedArea(overlap)) / area)
}

/**
 * Whether the polygon lies entirely beyond one side of the rectangle. This is fast, and most
 * objects are far from a zone.
 */
function isDisjoint(polygon: readonly Point[], { x: left, y: top, w, h }: BBox): boolean {
  const right = left + w
  const bottom = top + h
  return (
    polygon.every(({ x }) => x < left) ||
    polygon.every(({ x }) => x > right) ||
    polygon.every(({ y }) => y < top) ||
    polygon.every(({ y }) => y > bottom)
  )
}

/**
 * Clips a polygon to a rectangle (Sutherland and Hodgman 1974, "Reentrant Polygon Clipping"). The
 * pieces of a concave polygon stay connected by edges that run back and forth along the rectangle
 * and enclose no area.
 */
function clip(polygon: readonly Point[], { x: left, y: top, w, h }: BBox): Point[] {
  const right = left + w
  const bottom = top + h
  const sides: DistanceInside[] = [
    point => point.x - left,
    point => right - point.x,
    point => point.y - top,
    point => bottom - point.y,
  ]
  let clipped = [...polygon]
  for (const distanceInside of sides) clipped = clipToSide(clipped, distanceInside)
  return clipped
}

/** Distance of a point from one side of the rectangle, positive on the inner side. */
type DistanceInside = (point: Point) => number

function clipToSide(polygon: readonly Point[], distanceInside: DistanceInside): Point[] {
  return polygon.flatMap((vertex, i) => clipEdge(polygon.at(i - 1)!, vertex, distanceInside))
}

/** Returns the vertices after `from` that remain of the edge `from`–`to`. */
function clipEdge(from: Point, to: Point, distanceInside: DistanceInside): Point[] {
  const before = distanceInside(from)
  const after = distanceInside(to)
  if (before < 0 && after < 0) return []
  if (before >= 0 && after >= 0) return [to]

  // The distance from the side changes linearly along the edge, and is 0 at the intersection.
  const share = before / (before - after)
  const intersection = { x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) }
  return after >= 0 ? [intersection, to] : [intersection]
}

/**
 * Computes the area of a polygon with the shoelace formula. The sign depends on the
 * direction of the vertices.
 */
function computeSignedArea(polygon: readonly Point[]): number {
  let doubleArea = 0
  for (const [i, vertex] of polygon.entries()) {
    const previous = polygon.at(i - 1)!
    doubleArea += previous.x * vertex.y - vertex.x * previous.y
  }
  return doubleArea / 2
}
