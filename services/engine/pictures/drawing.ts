import { type DetectedObject, point, type Shape } from '@eyrie/contract'
import type { Drawing } from '@eyrie/contract/media'
import { z } from 'zod'

/** The properties of an object that a picture shows. */
export type DrawnObject = Pick<DetectedObject, 'class' | 'track' | 'bbox'>

/** The boxes, labels and shapes to draw into the picture of a frame. */
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

const drawable = z.looseObject({ name: z.string(), coords: z.array(point) })

/** The lines and zones in a channel's static metadata: every value that has a name and coordinates. */
export function findShapes(metadata: Record<string, unknown>): Shape[] {
  return Object.entries(metadata).flatMap(([key, value]) => findShapesIn(value, key))
}

/** The type of a shape is the singular of its list's name: `lines` holds shapes of type `line`. */
function findShapesIn(value: unknown, type: string): Shape[] {
  if (value === null || typeof value !== 'object') return []
  const shape = drawable.safeParse(value)
  if (shape.success) return [{ name: shape.data.name, type, points: shape.data.coords }]
  if (Array.isArray(value)) return value.flatMap(part => findShapesIn(part, type))
  return Object.entries(value).flatMap(([key, part]) => findShapesIn(part, key.replace(/s$/, '')))
}
