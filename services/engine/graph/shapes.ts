import { point, type Shape } from '@eyrie/contract'
import { z } from 'zod'

const drawable = z.looseObject({ name: z.string(), coords: z.array(point) })

/** What can be drawn of a channel's static metadata: whatever has a name and coordinates. */
export function shapesOf(metadata: Record<string, unknown>): Shape[] {
  return Object.entries(metadata).flatMap(([key, value]) => shapesIn(value, key))
}

/** A shape's type is the name of the list that it stands in: lines hold a `line`. */
function shapesIn(value: unknown, type: string): Shape[] {
  if (value === null || typeof value !== 'object') return []
  const shape = drawable.safeParse(value)
  if (shape.success) return [{ name: shape.data.name, type, points: shape.data.coords }]
  if (Array.isArray(value)) return value.flatMap(part => shapesIn(part, type))
  return Object.entries(value).flatMap(([key, part]) => shapesIn(part, key.replace(/s$/, '')))
}
