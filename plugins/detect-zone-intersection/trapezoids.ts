import type { Point } from '@eyrie/element'

/**
 * Maximum number of times that an outline may cross itself. Its sides divide the inside into about
 * as many parts, and each object is compared with each of them on the main thread of the engine.
 */
const MAX_CROSSINGS = 1000

/** A side of a polygon that is not horizontal. */
interface Side {
  top: Point
  bottom: Point
  /** 1 if the outline runs down along the side, −1 if it runs up. */
  winding: 1 | -1
}

/** The area between two sides, from one height to another. */
interface Trapezoid {
  left: Side
  right: Side
  topY: number
  bottomY: number
}

/**
 * Splits the inside of a polygon into trapezoids with horizontal parallel sides, which do not
 * overlap. If the polygon crosses itself, everything that its outline winds around is inside: the
 * non-zero rule, as in SVG. Throws an `Error` if it crosses itself more than `MAX_CROSSINGS` times.
 */
export function splitIntoTrapezoids(polygon: readonly Point[]): Point[][] {
  const sides = findSides(polygon)
  const heights = findHeights(sides)
  const trapezoids: Trapezoid[] = []
  /** The trapezoids that end at the current height. */
  let above: Trapezoid[] = []
  for (const [i, bottomY] of heights.entries()) {
    if (i === 0) continue
    above = findBetween(sides, heights[i - 1]!, bottomY).map(slice => {
      const upper = above.find(({ left, right }) => left === slice.left && right === slice.right)
      if (!upper) {
        trapezoids.push(slice)
        return slice
      }
      upper.bottomY = bottomY
      return upper
    })
  }
  return trapezoids.map(toPolygon)
}

function findSides(polygon: readonly Point[]): Side[] {
  return polygon.flatMap((to, i): Side[] => {
    const from = polygon.at(i - 1)!
    if (from.y === to.y) return []
    return from.y < to.y
      ? [{ top: from, bottom: to, winding: 1 }]
      : [{ top: to, bottom: from, winding: -1 }]
  })
}

/** Returns the heights at which sides begin, end or cross each other, from top to bottom. */
function findHeights(sides: readonly Side[]): number[] {
  const heights = new Set(sides.flatMap(({ top, bottom }) => [top.y, bottom.y]))
  let crossings = 0
  for (const [i, a] of sides.entries()) {
    for (const b of sides.slice(i + 1)) {
      const topY = Math.max(a.top.y, b.top.y)
      const bottomY = Math.min(a.bottom.y, b.bottom.y)
      if (topY >= bottomY) continue
      const topGap = getX(a, topY) - getX(b, topY)
      const bottomGap = getX(a, bottomY) - getX(b, bottomY)
      // The gap changes linearly, and is 0 where the sides cross.
      const isCrossing = topGap * bottomGap < 0
      if (!isCrossing) continue
      heights.add(topY + ((bottomY - topY) * topGap) / (topGap - bottomGap))
      crossings += 1
    }
  }
  if (crossings > MAX_CROSSINGS) {
    throw new Error(
      `the outline of a zone crosses itself ${crossings} times: draw it with at most ${MAX_CROSSINGS} crossings`,
    )
  }
  return [...heights].sort((a, b) => a - b)
}

/** Returns the inside between two heights, between which no sides begin, end or cross. */
function findBetween(sides: readonly Side[], topY: number, bottomY: number): Trapezoid[] {
  const middleY = (topY + bottomY) / 2
  const crossed = sides
    .filter(({ top, bottom }) => top.y <= topY && bottom.y >= bottomY)
    .map(side => ({ side, x: getX(side, middleY) }))
    .sort((a, b) => a.x - b.x)

  const trapezoids: Trapezoid[] = []
  let left: Side | undefined
  let winding = 0
  for (const { side } of crossed) {
    if (winding === 0) left = side
    winding += side.winding
    if (winding === 0) trapezoids.push({ left: left!, right: side, topY, bottomY })
  }
  return trapezoids
}

const toPolygon = ({ left, right, topY, bottomY }: Trapezoid): Point[] => [
  { x: getX(left, topY), y: topY },
  { x: getX(right, topY), y: topY },
  { x: getX(right, bottomY), y: bottomY },
  { x: getX(left, bottomY), y: bottomY },
]

/** Returns where a side is at a height. */
function getX({ top, bottom }: Side, y: number): number {
  return top.x + ((y - top.y) / (bottom.y - top.y)) * (bottom.x - top.x)
}
