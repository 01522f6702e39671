import type { Run } from './run-element.ts'

/**
 * Formats a run as text for a snapshot: one line for each event with its time, then one for each
 * counter. Numbers are rounded to four digits, so that rounding errors change nothing.
 *
 *     12.40 s crowd {"count":11}
 *     counter door {"down":3,"total":7,"up":4}
 */
export function formatRun({ events, counters }: Run): string {
  const eventLines = events.map(
    ({ seconds, type, ...fields }) => `${seconds.toFixed(2)} s ${type} ${formatFields(fields)}`,
  )
  const counterLines = Object.keys(counters)
    .sort()
    .map(name => `counter ${name} ${formatFields(counters[name]!)}`)
  return [...eventLines, ...counterLines].map(line => `${line}\n`).join('')
}

/** Fields in alphabetical order. */
const formatFields = (fields: object) => JSON.stringify(fields, normalize)

function normalize(_: string, value: unknown): unknown {
  if (typeof value === 'number') return Math.round(value * 1e4) / 1e4
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
