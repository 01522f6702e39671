/** A point on the ground, or a horizontal direction. */
export type Point = readonly [x: number, y: number]
/** A point or a direction in space. The z axis points up. */
export type Vector = readonly [x: number, y: number, z: number]

/** Left (-1) and right (1). */
export const SIDES = [-1, 1] as const
export type Side = (typeof SIDES)[number]

/** A position on the ground, and the heading there as a unit vector. */
interface Placement {
  x: number
  y: number
  hx: number
  hy: number
}

/** Returns the point that is at these distances, in metres, from a placement. */
export const toGround = ({ x, y, hx, hy }: Placement, forward: number, right: number): Point => [
  x + hx * forward + hy * right,
  y + hy * forward - hx * right,
]
