import { type BBox, type Point, point } from '@eyrie/contract/object'
import { z } from 'zod'

/** Sine of the least angle between two sides that is told from a straight line. */
const LEAST_TURN = 1e-3

/** The part of an object's box that stands for the object. */
export const region = z.enum(['center', 'bottom', 'top', 'left', 'right', 'box'])
export type Region = z.infer<typeof region>

/** Share of the box's height (left, right: width; center: both) that its part covers unless told otherwise. */
export const defaultRatio = 0.25

/** What of a box lies in the picture: detectors and trackers reach over its edges, where lines and zones end. */
export function withinPicture({ x, y, w, h }: BBox): BBox {
  const inside = (value: number) => Math.min(1, Math.max(0, value))
  const [left, top] = [inside(x), inside(y)]
  return { x: left, y: top, w: inside(x + w) - left, h: inside(y + h) - top }
}

/** The part of a box that stands for the object; `box` is the whole of it, whatever the ratio. */
export function partOf({ x, y, w, h }: BBox, region: Region, ratio: number): BBox {
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

export function centerOf({ x, y, w, h }: BBox): Point {
  return { x: x + w / 2, y: y + h / 2 }
}

const namedOnce = (shapes: { name: string }[]) =>
  new Set(shapes.map(shape => shape.name)).size === shapes.length

/** `uniqueItemProperties` tells a JSON Schema validator what the refinement tells zod. */
const shapes = (leastPoints: number, description: string) =>
  z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        coords: z.array(point).min(leastPoints).max(200),
      }),
    )
    .refine(namedOnce, { error: 'names must be unique' })
    .meta({ description, uniqueItemProperties: ['name'] })

/** Lines of two or more points. */
export const lines = shapes(2, 'Standing at the first point and looking to the last, left to right is up')
export type Line = z.infer<typeof lines>[number]

/** Zones: polygons of three or more points. */
export const zones = shapes(3, 'Polygons; the last point is joined to the first')
export type Zone = z.infer<typeof zones>[number]

/** Four corners in the order in which they go round a convex quadrilateral. */
export const quadrilateral = (corner: z.ZodType<Point>, description: string) =>
  z
    .array(corner)
    .length(4)
    .refine(isConvex, { error: 'corners must go round a convex quadrilateral' })
    .meta({ description, convexCorners: true })

/** Whether corners go round a convex polygon: all turns are to the same side, and none is straight on. */
export function isConvex(corners: readonly Point[]): boolean {
  const turns = corners.map((corner, i) => {
    const before = corners.at(i - 1)!
    const after = corners[(i + 1) % corners.length]!
    const [inX, inY] = [corner.x - before.x, corner.y - before.y]
    const [outX, outY] = [after.x - corner.x, after.y - corner.y]
    const sine = (inX * outY - inY * outX) / (Math.hypot(inX, inY) * Math.hypot(outX, outY))
    return Math.abs(sine) > LEAST_TURN ? Math.sign(sine) : 0
  })
  return turns[0] !== 0 && turns.every(turn => turn === turns[0])
}
