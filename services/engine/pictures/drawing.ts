import { type DetectedObject, point, type Shape } from '@eyrie/contract'
import type { Drawing } from '@eyrie/contract/media'
import { z } from 'zod'

/** The properties of a detected object that are drawn into a picture. */
export type DrawnObject = Pick<DetectedObject, 'class' | 'track' | 'bbox'>

/**
 * Converts detected objects and shapes to a drawing, which the media service draws into
 * the picture of a frame.
 */
export function toDrawing(objects: readonly DrawnObject[], shapes: Shape[]): Drawing {
  return {
    objects: objects.map(({ class: name, track, bbox }) => ({
      bbox,
      label: track === undefined ? name : `${name} ${track}`,
      colour: name,
    })),
    shapes,
  }
}

const namedShape = z.looseObject({ name: z.string(), coords: z.array(point) })

/**
 * Finds the lines and zones in the static metadata of a channel: all values with a
 * name and coordinates.
 */
export function findShapes(metadata: Record<string, unknown>): Shape[] {
  return Object.entries(metadata).flatMap(([key, value]) => findShapesIn(value, key))
}

/**
 * Shapes are stored in lists. The type of a shape is the name of the list in the
 * singular: `line` for `lines`.
 */
function findShapesIn(value: unknown, type: string): Shape[] {
  if (value === null || typeof value !== 'object') return []
  const shape = namedShape.safeParse(value)
  if (shape.success) return [{ name: shape.data.name, type, points: shape.data.coords }]
  if (Array.isArray(value)) return value.flatMap(element => findShapesIn(element, type))
  return Object.entries(value).flatMap(([key, property]) =>
    findShapesIn(property, key.replace(/s$/, '')),
  )
}
