import type { Capabilities } from '@eyrie/contract/plugin'
import type { ViewSpec } from '@eyrie/contract/view'

/** The fields that every event may have (`eventData` of the contract). */
const COMMON_FIELDS = new Set([
  'type',
  'name',
  'direction',
  'track',
  'class',
  'bbox',
  'picture',
  'picture_offset',
])

/** Returns why a view is not covered by the declared capabilities; undefined if it is. */
export function checkView({ frames }: Capabilities, view: ViewSpec): string | undefined {
  if (!frames) return `it requests pictures, but its manifest does not declare frames${proposeFrames(view)}`
  const { format, width, height } = frames
  const declared = `its manifest declares ${format} of at most ${width}×${height}`
  if (view.format !== format)
    return `it requests pictures in the format ${view.format}, but ${declared}${proposeFrames(view)}`
  // Without a size, the picture is as large as that of the camera.
  const isCovered =
    view.width !== undefined && view.height !== undefined && view.width <= width && view.height <= height
  if (isCovered) return undefined
  const requested = `${view.width ?? 'any width'}×${view.height ?? 'any height'}`
  return `it requests pictures of ${requested}, but ${declared}${proposeFrames(view)}`
}

/**
 * Returns which part of a result the manifest does not declare; undefined if it declares all. The content of the result has
 * not been validated yet.
 */
export function checkDeclared(capabilities: Capabilities, result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const { events, counters } = result as { events?: unknown; counters?: unknown }
  return checkEvents(capabilities, events) ?? checkCounters(capabilities, counters)
}

function checkEvents({ events: declared }: Capabilities, events: unknown): string | undefined {
  if (!Array.isArray(events)) return undefined
  for (const event of events as unknown[]) {
    if (typeof event !== 'object' || event === null) continue
    const type = String((event as { type?: unknown }).type)
    const fields = Object.hasOwn(declared, type) ? declared[type] : undefined
    const propose = () =>
      proposeLine('events', { ...declared, [type]: { ...fields, ...describeFields(event) } })
    if (!fields)
      return `it reports events of the type ${type}, which its manifest does not declare${propose()}`
    for (const [name, value] of Object.entries(event)) {
      if (COMMON_FIELDS.has(name)) continue
      const expected = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (!expected)
        return `its ${type} events have the field ${name}, which its manifest does not declare${propose()}`
      if (expected !== 'any' && typeof value !== expected)
        return `the field ${name} of its ${type} events is no ${expected}, as its manifest declares`
    }
  }
  return undefined
}

function checkCounters({ counters: declared }: Capabilities, counters: unknown): string | undefined {
  if (typeof counters !== 'object' || counters === null) return undefined
  for (const counter of Object.values(counters)) {
    if (typeof counter !== 'object' || counter === null) continue
    const undeclared = Object.keys(counter).find(key => !declared.includes(key))
    if (undeclared !== undefined)
      return `it counts ${undeclared}, which its manifest does not declare${proposeLine('counters', [...declared, undeclared])}`
  }
  return undefined
}

/** The types of the fields of an event that not every event may have. */
function describeFields(event: object): Record<string, string> {
  const fields = Object.entries(event).filter(([name]) => !COMMON_FIELDS.has(name))
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      /^(string|number|boolean)$/.test(typeof value) ? typeof value : 'any',
    ]),
  )
}

function proposeFrames({ format, width, height }: ViewSpec): string {
  if (width === undefined || height === undefined) return ''
  return proposeLine('frames', { format, width, height })
}

/** Proposes the line with which the manifest would declare it. */
function proposeLine(name: keyof Capabilities, value: object): string {
  const text = Array.isArray(value)
    ? `[${value.map(item => JSON.stringify(item)).join(', ')}]`
    : JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')
  return `: set "${name}": ${text} in its capabilities in plugin.json`
}
