import { type BBox, type Point, point } from '@eyrie/contract/object'
import { z } from 'zod'

/** Sine of the smallest angle between two sides that counts as a corner. */
const MIN_CORNER_SINE = 1e-3

/** The part of an object's bounding box that represents the object, e.g. `bottom` for the feet of a person. */
export const region = z.enum(['center', 'bottom', 'top', 'left', 'right', 'box'])
export type Region = z.infer<typeof region>

/**
 * Default share of the box covered by a region: of its height, for `left` and `right` of its width, for `center` of
 * both.
 */
export const DEFAULT_REGION_RATIO = 0.25

/** Clips a box to the picture (0..1). Detectors and trackers return boxes that extend beyond it. */
export function clipToPicture({ x, y, w, h }: BBox): BBox {
  const clamp = (value: number) => Math.min(1, Math.max(0, value))
  const [left, top] = [clamp(x), clamp(y)]
  return { x: left, y: top, w: clamp(x + w) - left, h: clamp(y + h) - top }
}

/** Returns the part of a box that `region` covers. The ratio does not apply to `box`, which is the whole box. */
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
      return { x: x + (w * (1 - ratio)) / 2, y: y + (h * (1 - ratio)) / 2, w: w * ratio, h: h * ratio }
  }
}

export function getCenter({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h / 2 }
}

const hasUniqueNames = (shapes: { name: string }[]) =>
  new Set(shapes.map(shape => shape.name)).size === shapes.length

/** `uniqueItemProperties` expresses the refinement in JSON Schema; the engine's validator implements it. */
const namedShapes = (minPoints: number, description: string) =>
  z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        coords: z.array(point).min(minPoints).max(200),
      }),
    )
    .refine(hasUniqueNames, { error: 'names must be unique' })
    .meta({ description, uniqueItemProperties: ['name'] })

/** Schema of named polylines with at least two points in normalised source coordinates. */
export const lines = namedShapes(
  2,
  'Polylines; seen from the first point towards the last, a crossing from left to right is up',
)
export type Line = z.infer<typeof lines>[number]

/** Schema of named polygons with at least three points in normalised source coordinates. */
export const zones = namedShapes(3, 'Polygons; the last point is connected to the first')
export type Zone = z.infer<typeof zones>[number]

/** Schema of the four corners of a convex quadrilateral, in clockwise or counterclockwise order. */
export const quadrilateral = (corner: z.ZodType<Point>, description: string) =>
  z
    .array(corner)
    .length(4)
    .refine(isConvex, { error: 'corners must form a convex quadrilateral, in order around it' })
    .meta({ description, convexCorners: true })

/** Whether a polygon is strictly convex: every corner turns to the same side and none is straight. */
export function isConvex(corners: readonly Point[]): boolean {
  const turns = corners.map((corner, i) => {
    const previous = corners.at(i - 1)!
    const next = corners[(i + 1) % corners.length]!
    const [inX, inY] = [corner.x - previous.x, corner.y - previous.y]
    const [outX, outY] = [next.x - corner.x, next.y - corner.y]
    const sine = (inX * outY - inY * outX) / (Math.hypot(inX, inY) * Math.hypot(outX, outY))
    return Math.abs(sine) > MIN_CORNER_SINE ? Math.sign(sine) : 0
  })
  return turns[0] !== 0 && turns.every(turn => turn === turns[0])
}
