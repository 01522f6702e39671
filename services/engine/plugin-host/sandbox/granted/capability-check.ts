import type { Capabilities } from '@eyrie/contract/plugin'
import type { ViewSpec } from '@eyrie/contract/view'

/**
 * Checks what an element does against the capabilities that its manifest declares. If something is
 * not declared, the message proposes the line of the manifest that would declare it.
 */

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
  const problem = findViewProblem(frames, view)
  return problem && problem + proposeFrames(view)
}

function findViewProblem(frames: Capabilities['frames'], view: ViewSpec): string | undefined {
  if (!frames) return 'it requests pictures, but its manifest does not declare frames'
  const { format, width: maxWidth, height: maxHeight } = frames
  const declared = `its manifest declares ${format} of at most ${maxWidth}×${maxHeight}`
  if (view.format !== format) {
    return `it requests pictures in the format ${view.format}, but ${declared}`
  }

  // Without a size, pictures are as large as those of the camera, and a camera may have any size.
  const { width = Number.POSITIVE_INFINITY, height = Number.POSITIVE_INFINITY } = view
  if (width <= maxWidth && height <= maxHeight) return undefined
  const requested = `${view.width ?? 'any width'}×${view.height ?? 'any height'}`
  return `it requests pictures of ${requested}, but ${declared}`
}

/**
 * Returns which part of a result the manifest does not declare; undefined if it declares all parts.
 * The result is validated later, so malformed parts are ignored here.
 */
export function checkDeclared(capabilities: Capabilities, result: unknown): string | undefined {
  if (!isObject(result)) return undefined
  const events: unknown[] = Array.isArray(result.events) ? result.events : []
  for (const event of events) {
    const problem = isObject(event) ? checkEvent(capabilities.events, event) : undefined
    if (problem !== undefined) return problem
  }
  return isObject(result.counters)
    ? checkCounters(capabilities.counters, result.counters)
    : undefined
}

function checkEvent(
  declared: Capabilities['events'],
  event: Record<string, unknown>,
): string | undefined {
  const type = String(event.type)
  const fields = Object.hasOwn(declared, type) ? declared[type] : undefined
  const propose = () =>
    proposeLine('events', { ...declared, [type]: { ...fields, ...listFieldTypes(event) } })
  if (!fields) {
    return `it reports events of the type ${type}, which its manifest does not declare${propose()}`
  }

  for (const [name, value] of Object.entries(event)) {
    if (COMMON_FIELDS.has(name)) continue
    const fieldType = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!fieldType) {
      return `its ${type} events have the field ${name}, which its manifest does not declare${propose()}`
    }
    if (fieldType !== 'any' && typeof value !== fieldType) {
      return `the field ${name} of its ${type} events is no ${fieldType}, as its manifest declares`
    }
  }
  return undefined
}

function checkCounters(
  declared: Capabilities['counters'],
  counters: Record<string, unknown>,
): string | undefined {
  for (const counter of Object.values(counters)) {
    if (!isObject(counter)) continue
    const undeclared = Object.keys(counter).find(key => !declared.includes(key))
    if (undeclared === undefined) continue
    const proposal = proposeLine('counters', [...declared, undeclared])
    return `it counts ${undeclared}, which its manifest does not declare${proposal}`
  }
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/**
 * Returns the types, as a manifest declares them, of the fields of an event that are not
 * common to all events.
 */
function listFieldTypes(event: object): Record<string, string> {
  const fields = Object.entries(event).filter(([name]) => !COMMON_FIELDS.has(name))
  const toType = (value: unknown) =>
    /^(string|number|boolean)$/.test(typeof value) ? typeof value : 'any'
  return Object.fromEntries(fields.map(([name, value]) => [name, toType(value)]))
}

function proposeFrames({ format, width, height }: ViewSpec): string {
  if (width === undefined || height === undefined) return ''
  return proposeLine('frames', { format, width, height })
}

/** Returns the end of a message that proposes a line for the capabilities in the manifest. */
function proposeLine(name: keyof Capabilities, value: object): string {
  return `: set "${name}": ${formatOnOneLine(value)} in its capabilities in plugin.json`
}

/** Formats JSON as in `["a", "b"]` or `{ "a": 1 }`, with the spaces of hand-written JSON. */
function formatOnOneLine(value: object): string {
  if (Array.isArray(value)) return `[${value.map(item => JSON.stringify(item)).join(', ')}]`
  const indented = JSON.stringify(value, null, 1)
  return indented.replace(/\n\s*/g, ' ')
}
