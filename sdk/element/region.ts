import { type BBox, type Point, point } from '@eyrie/contract/object'
import { z } from 'zod'

/** Sine of the smallest angle between two sides of a polygon that counts as a corner. */
const MIN_CORNER_SINE = 1e-3
/**
 * Default share of the box that a region covers. The share refers to the height of the box, for
 * `left` and `right` to its width, and for `center` to both.
 */
export const DEFAULT_REGION_RATIO = 0.25

/**
 * A region: the part of a bounding box that represents the object, such as `bottom` for
 * the feet of a person.
 */
export const region = z.enum(['center', 'bottom', 'top', 'left', 'right', 'box'])
export type Region = z.infer<typeof region>

/**
 * Clips a box to the picture. Detectors and trackers return boxes that extend beyond the picture.
 */
export function clipToPicture({ x, y, w, h }: BBox): BBox {
  const clamp = (value: number) => Math.min(1, Math.max(0, value))
  const left = clamp(x)
  const top = clamp(y)
  return { x: left, y: top, w: clamp(x + w) - left, h: clamp(y + h) - top }
}

/**
 * Returns the part of a box that a region covers. `ratio` is its share of the box, except for
 * `box`, the whole box.
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

export function getCenter({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h / 2 }
}

const hasUniqueNames = (shapes: { name: string }[]) =>
  new Set(shapes.map(shape => shape.name)).size === shapes.length

const namedShape = (minPoints: number) =>
  z.strictObject({
    name: z.string().min(1).max(200),
    coords: z.array(point).min(minPoints).max(200),
  })

/**
 * JSON Schema has no unique properties. The validator of the engine implements the keyword
 * `uniqueItemProperties`.
 */
const listWithUniqueNames = <Shape extends z.ZodType<{ name: string }>>(
  shape: Shape,
  description: string,
) =>
  z
    .array(shape)
    .refine(hasUniqueNames, { error: 'names must be unique' })
    .meta({ description, uniqueItemProperties: ['name'] })

/** Schema of named polylines with at least two points in normalized source coordinates. */
export const lines = listWithUniqueNames(
  namedShape(2),
  'Polylines; seen from the first point towards the last, a crossing from left to right is up',
)
export type Line = z.infer<typeof lines>[number]

/** Schema of named polygons with at least three points in normalized source coordinates. */
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

/** Schema of the four corners of a convex quadrilateral, in clockwise or counterclockwise order. */
export const quadrilateral = (corner: z.ZodType<Point>, description: string) =>
  z
    .array(corner)
    .length(4)
    .refine(isConvex, { error: 'corners must form a convex quadrilateral, in order around it' })
    .meta({ description, convexCorners: true })

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
function findTurn(previous: Point, corner: Point, next: Point): number {
  const inX = corner.x - previous.x
  const inY = corner.y - previous.y
  const outX = next.x - corner.x
  const outY = next.y - corner.y
  const sine = (inX * outY - inY * outX) / (Math.hypot(inX, inY) * Math.hypot(outX, outY))
  return Math.abs(sine) > MIN_CORNER_SINE ? Math.sign(sine) : 0
}
