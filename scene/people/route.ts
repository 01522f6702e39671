import { clamp } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { Point } from '../maths/vectors.ts'
import type { Layout } from '../street/layout.ts'

/** A point of a route, in metres. */
export interface Waypoint {
  x: number
  y: number
  /** Whether to wait here until pedestrians have green. */
  waitsForSignal: boolean
}

// Ends of the pavements, in metres.
const LEFT_END = -16
export const RIGHT_END = 26

/**
 * Shares of the routes that stay on the near and on the far pavement. The others
 * lead over the crossing.
 */
const NEAR_SHARE = 0.34
const FAR_SHARE = 0.18

export const createWaypoint = (x: number, y: number, waitsForSignal = false): Waypoint => ({
  x,
  y,
  waitsForSignal,
})

/** Creates a route along one of the pavements or over the crossing, in either direction. */
export function createRandomRoute(layout: Layout, random: Random): Waypoint[] {
  const { roadNear, roadFar, bayDepth, facadeY, crossingX, crossingHalfWidth } = layout
  const pickNearY = (): number => random.between(4.5, roadNear - 1.1)
  const pickFarY = (): number => random.between(roadFar + bayDepth + 1.3, facadeY - 1.5)
  const routeType = random.next()
  const fromLeft = random.chance(0.5)
  const [start, end] = fromLeft ? [LEFT_END, RIGHT_END] : [RIGHT_END, LEFT_END]

  const staysNear = routeType < NEAR_SHARE
  if (staysNear) {
    const y = pickNearY()
    const drift = clamp(y + random.between(-2, 2), 3, roadNear - 1)
    const middle = crossingX + random.between(-3, 3)
    return [createWaypoint(start, y), createWaypoint(middle, drift), createWaypoint(end, y)]
  }
  const staysFar = routeType < NEAR_SHARE + FAR_SHARE
  if (staysFar) {
    const y = pickFarY()
    return [createWaypoint(start, y), createWaypoint(end, y)]
  }

  const pickCrossingX = (): number =>
    crossingX + random.between(-crossingHalfWidth + 0.4, crossingHalfWidth - 0.4)
  const nearX = pickCrossingX()
  const farX = pickCrossingX()
  const nearY = pickNearY()
  const farY = pickFarY()
  const pickRightX = (): number => (random.chance(0.5) ? RIGHT_END : random.between(-6, 6))
  const outsideX = fromLeft ? LEFT_END : pickRightX()
  const outsideY = fromLeft || random.chance(0.5) ? nearY : -4
  const nearKerb: Point = [nearX, roadNear - 0.7]
  const farKerb: Point = [farX, roadFar + bayDepth + 0.7]
  const farEnd = createWaypoint(random.chance(0.5) ? LEFT_END : RIGHT_END, farY)
  const outside = createWaypoint(outsideX, outsideY)
  return random.chance(0.5)
    ? [outside, createWaypoint(...nearKerb, true), createWaypoint(...farKerb), farEnd]
    : [farEnd, createWaypoint(...farKerb, true), createWaypoint(...nearKerb), outside]
}
