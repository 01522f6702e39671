import { type BBox, type Point, point } from '@eyrie/contract/object'
import { z } from 'zod'

/**
 * Areas in a picture: regions of the boxes of objects, and the lines and zones that users draw. All
 * coordinates are normalized to 0..1 of the source picture, with y pointing down.
 */

/**
 * A region: the part of a bounding box that represents the object. `bottom`, for example, contains
 * the feet of a person, and `box` is the whole box.
 */
export const region = z.enum(['center', 'bottom', 'top', 'left', 'right', 'box'])
export type Region = z.infer<typeof region>

/** Default of the `ratio` of a region, its share of the box. */
export const DEFAULT_REGION_RATIO = 0.25

/**
 * Returns the part of a box that is inside the picture. Boxes of detectors and trackers can extend
 * beyond it.
 */
export function clipToPicture({ x, y, w, h }: BBox): BBox {
  const clamp = (value: number) => Math.min(1, Math.max(0, value))
  const left = clamp(x)
  const top = clamp(y)
  return { x: left, y: top, w: clamp(x + w) - left, h: clamp(y + h) - top }
}

/**
 * Returns the part of a box that a region covers. `ratio` is its share of the height of the box for
 * `top` and `bottom`, of the width for `left` and `right`, and of both for `center`. The region
 * `box` ignores it.
 */
export function cropToRegion({ x, y, w, h }: BBox, region: Region, ratio: number): BBox {
  switch (region) {
    case 'box':
      return { x, y, w, h }
    case 'top':
      return { x, y, w, h: h * ratio }
    case 'bottom':
      return { x, y: y + h * (1 - ratio), w, h: h * ratio }
    case 'left':
      return { x, y, w: w * ratio, h }
    case 'right':
      return { x: x + w * (1 - ratio), y, w: w * ratio, h }
    case 'center':
      return {
        x: x + (w * (1 - ratio)) / 2,
        y: y + (h * (1 - ratio)) / 2,
        w: w * ratio,
        h: h * ratio,
      }
  }
}

/** Returns the center of a box. */
export function getCenter({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h / 2 }
}

/** Schema of a line or zone. */
const namedShape = (minPoints: number) =>
  z.strictObject({
    name: z.string().min(1).max(200),
    coords: z.array(point).min(minPoints).max(200),
  })

const hasUniqueNames = (shapes: { name: string }[]) =>
  new Set(shapes.map(({ name }) => name)).size === shapes.length

/**
 * Schema of a list of shapes with different names. JSON Schema cannot express this. The validator
 * of the engine implements the keyword `uniqueItemProperties` for it.
 */
const listWithUniqueNames = <Shape extends z.ZodType<{ name: string }>>(
  shape: Shape,
  description: string,
) =>
  z
    .array(shape)
    .refine(hasUniqueNames, { error: 'names must be unique' })
    .meta({ description, uniqueItemProperties: ['name'] })

/** Schema of named polylines with at least two points. */
export const lines = listWithUniqueNames(
  namedShape(2),
  'Polylines; seen from the first point towards the last, a crossing from left to right is up',
)
export type Line = z.infer<typeof lines>[number]

/** Schema of named polygons with at least three points. */
export const zones = listWithUniqueNames(
  namedShape(3).extend({
    max_dwell_time: z.number().gt(0).max(86_400).optional().meta({
      description:
        'Seconds after which a visit is reported as `dwell`, and again after each further such period',
    }),
  }),
  'Polygons; the last point is connected to the first',
)
export type Zone = z.infer<typeof zones>[number]

/**
 * Schema of the four corners of a convex quadrilateral, in clockwise or counterclockwise order. In
 * the JSON Schema, the keyword `convexCorners` makes the validator of the engine check them.
 */
export const quadrilateral = (corner: z.ZodType<Point>, description: string) =>
  z
    .array(corner)
    .length(4)
    .refine(isConvex, { error: 'corners must form a convex quadrilateral, in order around it' })
    .meta({ description, convexCorners: true })

/** Corners with a smaller sine count as straight. They turn by less than about 0.06 degrees. */
const MIN_CORNER_SINE = 1e-3

/**
 * Whether a polygon is strictly convex: every corner turns to the same side and none is straight.
 */
export function isConvex(corners: readonly Point[]): boolean {
  const turns = corners.map((corner, i) =>
    findTurn(corners.at(i - 1)!, corner, corners[(i + 1) % corners.length]!),
  )
  return turns[0] !== 0 && turns.every(turn => turn === turns[0])
}

/**
 * Returns the direction of the turn at a corner: 1 clockwise, −1 counterclockwise, 0 if
 * the corner is straight.
 */
function findTurn(previous: Point, corner: Point, next: Point): -1 | 0 | 1 {
  const inX = corner.x - previous.x
  const inY = corner.y - previous.y
  const outX = next.x - corner.x
  const outY = next.y - corner.y
  // The cross product of the two sides is the product of their lengths and the sine of the turn.
  const crossProduct = inX * outY - inY * outX
  const sine = crossProduct / (Math.hypot(inX, inY) * Math.hypot(outX, outY))
  if (sine > MIN_CORNER_SINE) return 1
  return sine < -MIN_CORNER_SINE ? -1 : 0
}
