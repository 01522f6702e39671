import type { EventData } from '@eyrie/contract/object'

/**
 * The fields that all events may have, which the row of an event shows in another form, or
 * which no person reads.
 */
const COMMON_FIELDS = new Set(
  'seq time type name direction track class bbox picture picture_offset'.split(' '),
)

/**
 * Returns the fields that an element has added to an event, as texts: `seconds 12.4`, `alarm yes`.
 */
export function formatOwnFields(event: EventData): string[] {
  return Object.entries(event)
    .filter(([field, value]) => !COMMON_FIELDS.has(field) && value !== null && value !== undefined)
    .map(([field, value]) => `${field.replaceAll('_', ' ')} ${formatValue(value)}`)
}

function formatValue(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
