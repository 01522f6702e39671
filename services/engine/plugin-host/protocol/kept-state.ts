import { deserialize, serialize } from 'node:v8'
import type { Element } from '@eyrie/element'

/**
 * The state of an element, which new code of a development version takes over. It is encoded and decoded in the processes of the
 * element only: the engine passes on a text of limited length, and reads nothing in it.
 */

const MAX_STATE_BYTES = 512 * 1024
/** Maximum length of an encoded state, in base64. */
export const MAX_STATE_LENGTH = Math.ceil(MAX_STATE_BYTES / 3) * 4

/** The state of an open element. */
export interface ElementState {
  /** Returns the encoded state, if the element has one, or why it cannot be kept. */
  save(): { state?: string; problem?: string }
  /** Continues with a state of earlier code. Returns why not. */
  restore(encoded: string): { problem?: string }
}

/** What a state begins with: the kinds of its values, by path. The content of arrays and maps is not part of it. */
type Shape = Readonly<Record<string, string>>

/** Must be called before the first frame, when the element has its initial state. */
export function openState(element: Element): ElementState {
  const shape = describeShape(element.state)
  return {
    save: () =>
      describeFailure(() => {
        const { state } = element
        return state === undefined ? {} : { state: encode(shape, state) }
      }),
    restore: encoded =>
      describeFailure(() => {
        const [savedShape, saved] = decode(encoded)
        assertFits(savedShape, shape)
        element.state = addNewProperties(saved, element.state, savedShape)
        return {}
      }),
  }
}

function describeFailure<T extends object>(work: () => T): T | { problem: string } {
  try {
    return work()
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function encode(shape: Shape, state: unknown): string {
  assertData(state)
  const encoded = serialize([shape, state])
  if (encoded.length > MAX_STATE_BYTES)
    throw new Error(`it has ${encoded.length} bytes, more than ${MAX_STATE_BYTES}`)
  return encoded.toString('base64')
}

function decode(encoded: string): [shape: Shape, state: unknown] {
  try {
    return deserialize(Buffer.from(encoded, 'base64'))
  } catch {
    throw new Error('it is of code in another language')
  }
}

/** Throws an `Error` that names the first value with methods, which would be lost. */
function assertData(value: unknown, path = 'state', seen = new Set<unknown>()): void {
  const kind = findKind(value)
  if (kind === 'function' || kind === 'symbol') throw new Error(`${path} is a ${kind}, and not data`)
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  if (value instanceof Map || value instanceof Set) {
    for (const part of [...value.keys(), ...value.values()]) assertData(part, `a value of ${path}`, seen)
  } else if (Array.isArray(value) || isPlain(value)) {
    for (const [key, part] of Object.entries(value)) assertData(part, `${path}.${key}`, seen)
  } else if (!(value instanceof Date || value instanceof ArrayBuffer || ArrayBuffer.isView(value))) {
    throw new Error(
      `${path} is a ${kind}: only plain objects, arrays, maps, sets, dates and buffers are kept`,
    )
  }
}

function describeShape(
  value: unknown,
  path = 'state',
  shape: Record<string, string> = {},
  seen = new Set<unknown>(),
): Shape {
  shape[path] = findKind(value)
  if (!isPlain(value) || seen.has(value)) return shape
  seen.add(value)
  for (const [key, part] of Object.entries(value)) describeShape(part, `${path}.${key}`, shape, seen)
  return shape
}

/** Throws an `Error` that names what of a state the new code does not begin with. It may begin with more. */
function assertFits(saved: Shape, shape: Shape): void {
  for (const [path, kind] of Object.entries(saved)) {
    const now = shape[path]
    if (now === undefined) throw new Error(`the new code has no ${path}`)
    if (now !== kind) throw new Error(`${path} was ${kind}, and is ${now} in the new code`)
  }
}

/** Adds to a state the properties with which only the new code begins. */
function addNewProperties(
  saved: unknown,
  initial: unknown,
  savedShape: Shape,
  path = 'state',
  seen = new Set<unknown>(),
): unknown {
  if (!isPlain(saved) || !isPlain(initial) || seen.has(initial)) return saved
  seen.add(initial)
  for (const [key, part] of Object.entries(initial)) {
    const isNew = savedShape[`${path}.${key}`] === undefined
    saved[key] = isNew ? part : addNewProperties(saved[key], part, savedShape, `${path}.${key}`, seen)
  }
  return saved
}

function findKind(value: unknown): string {
  if (typeof value !== 'object') return typeof value
  return value === null ? 'null' : (value.constructor?.name ?? 'Object')
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value))
