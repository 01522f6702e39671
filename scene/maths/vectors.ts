/** A point on the ground, or a horizontal direction. */
export type Point = readonly [x: number, y: number]
/** A point or a direction in space. The z axis points up. */
export type Vector = readonly [x: number, y: number, z: number]
