import { point, type Shape, type StaticFormat } from '@eyrie/contract'
import { z } from 'zod'

const drawable = z.looseObject({ name: z.string(), coords: z.array(point) })

/** A channel's static metadata as produced, flat, or as shapes to draw. */
export function formatMetadata(metadata: Record<string, unknown>, format: StaticFormat): unknown {
  if (format === 'formatter_a') return Object.fromEntries(leaves(metadata, ''))
  return format === 'formatter_b' ? shapesOf(metadata) : metadata
}

/** The shapes in a channel's static metadata. */
export function shapesOf(metadata: Record<string, unknown>): Shape[] {
  return Object.entries(metadata).flatMap(([key, value]) => shapes(value, key))
}

/** Every single value with its dotted path, such as `line-crossing.lines.0.name`. */
function leaves(value: unknown, path: string): [string, unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([key, part]) => leaves(part, path ? `${path}.${key}` : key))
}

/** Whatever has a name and coordinates; its type is the name of the list that it stands in: lines hold a `line`. */
function shapes(value: unknown, type: string): Shape[] {
  if (value === null || typeof value !== 'object') return []
  const shape = drawable.safeParse(value)
  if (shape.success) return [{ name: shape.data.name, type, points: shape.data.coords }]
  if (Array.isArray(value)) return value.flatMap(part => shapes(part, type))
  return Object.entries(value).flatMap(([key, part]) => shapes(part, key.replace(/s$/, '')))
}
