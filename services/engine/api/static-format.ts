import type { StaticFormat } from '@eyrie/contract'
import { shapesOf } from '../graph/shapes.ts'

/** A channel's static metadata as produced, flat, or as shapes to draw. */
export function formatMetadata(metadata: Record<string, unknown>, format: StaticFormat): unknown {
  if (format === 'formatter_a') return Object.fromEntries(leaves(metadata, ''))
  return format === 'formatter_b' ? shapesOf(metadata) : metadata
}

/** Every single value with its dotted path, such as `line-crossing.lines.0.name`. */
function leaves(value: unknown, path: string): [string, unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([key, part]) => leaves(part, path ? `${path}.${key}` : key))
}
