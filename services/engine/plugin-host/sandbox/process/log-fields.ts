import { inspect } from 'node:util'
import { describeError } from '@eyrie/element/error-location'

/**
 * Returns the fields of a log entry as JSON can express them. Other values become text: errors,
 * which JSON would empty, with their place in the plugin's folder. Code in JavaScript may pass
 * fields that are no object.
 */
export function toLogFields(fields: unknown, folder: string | undefined): Record<string, unknown> {
  if (typeof fields !== 'object' || fields === null) return {}
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, toLoggable(value, folder)]),
  )
}

function toLoggable(value: unknown, folder: string | undefined): unknown {
  if (value instanceof Error) return describeError(value, folder)
  if (typeof value === 'bigint') return String(value)
  try {
    JSON.stringify(value)
    return value
  } catch {
    return inspect(value)
  }
}
