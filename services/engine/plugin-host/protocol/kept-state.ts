import { deserialize, serialize } from 'node:v8'
import type { Element } from '@eyrie/element'
import type { AdjustableClock, ClockState } from '@eyrie/element/clock'

/**
 * An element is the code of a plugin that processes frames. While it is developed, its code can be
 * replaced, and the new code continues with the state of the old code. The state is encoded and
 * decoded where the code runs, in a thread or process of the element. The engine only passes it on,
 * as a text of limited length.
 */

const MAX_STATE_BYTES = 512 * 1024
/** Maximum length of an encoded state, in base64. */
export const MAX_STATE_LENGTH = Math.ceil(MAX_STATE_BYTES / 3) * 4

/** The state of an open element. A `problem` is the reason why a state cannot be kept. */
export interface ElementState {
  /** Returns the encoded state, if the element has one, or the problem. */
  save(): { state?: string; problem?: string }
  /**
   * Replaces the state by one of earlier code. If it does not fit, returns the problem, and the
   * element keeps its initial state.
   */
  restore(encoded: string): { problem?: string }
}

/**
 * The shape of an initial state: the kind of each value, such as `number` or `Map`, by the path of
 * the value, such as `state.counts.up`. The content of arrays and maps is not part of the shape.
 * New code can continue with a saved state if it has all values of the saved shape.
 */
type Shape = Readonly<Record<string, string>>

/**
 * Opens the state of an element. Must be called before the first frame, because it describes the
 * initial state. Times in the state are those of the element's clock, which is kept with it.
 */
export function openState(
  element: Element,
  clock: Pick<AdjustableClock, 'save' | 'restore'>,
): ElementState {
  const shape = describeShape(element.state)
  return {
    save: () => {
      try {
        // Read once: it may be a getter of the plugin.
        const { state } = element
        return state === undefined ? {} : { state: encode(shape, state, clock.save()) }
      } catch (error) {
        return { problem: describeProblem(error) }
      }
    },
    restore: encoded => {
      try {
        const [savedShape, saved, savedClock] = decode(encoded)
        assertFits(savedShape, shape)
        element.state = addNewProperties(saved, element.state, savedShape)
        clock.restore(savedClock)
        return {}
      } catch (error) {
        return { problem: describeProblem(error) }
      }
    },
  }
}

/** Returns the message of an error. The code of the plugin may throw any value. */
const describeProblem = (error: unknown) => (error instanceof Error ? error.message : String(error))

function encode(shape: Shape, state: unknown, clock: ClockState): string {
  assertData(state)
  const encoded = serialize([shape, state, clock])
  if (encoded.length > MAX_STATE_BYTES) {
    throw new Error(`it has ${encoded.length} bytes, more than ${MAX_STATE_BYTES}`)
  }
  return encoded.toString('base64')
}

function decode(encoded: string): [shape: Shape, state: unknown, clock: ClockState] {
  try {
    return deserialize(Buffer.from(encoded, 'base64'))
  } catch {
    // The engine does not change an encoded state: this one was encoded by code in Python, which
    // uses another format.
    throw new Error('it is of code in another language')
  }
}

/**
 * Throws an `Error` that names the first value that is not plain data: a function, or an object of
 * a class, whose methods would be lost. `visited` contains the objects that were checked already,
 * because a state may be cyclic.
 */
function assertData(value: unknown, path = 'state', visited = new Set<unknown>()): void {
  const kind = findKind(value)
  if (kind === 'function' || kind === 'symbol') {
    throw new Error(`${path} is a ${kind}, and not data`)
  }
  if (typeof value !== 'object' || value === null || visited.has(value)) return
  visited.add(value)

  const isBuffer = value instanceof ArrayBuffer || ArrayBuffer.isView(value)
  if (value instanceof Map || value instanceof Set) {
    for (const item of [...value.keys(), ...value.values()]) {
      assertData(item, `a value of ${path}`, visited)
    }
  } else if (Array.isArray(value) || isPlain(value)) {
    for (const [key, item] of Object.entries(value)) assertData(item, `${path}.${key}`, visited)
  } else if (!isBuffer && !(value instanceof Date)) {
    throw new Error(
      `${path} is a ${kind}: only plain objects, arrays, maps, sets, dates and buffers are kept`,
    )
  }
}

/** Returns the kinds of the initial state and of the values in its plain objects, at any depth. */
function describeShape(initial: unknown): Shape {
  const shape: Record<string, string> = {}
  const visited = new Set<unknown>()
  const visit = (value: unknown, path: string) => {
    shape[path] = findKind(value)
    if (!isPlain(value) || visited.has(value)) return
    visited.add(value)
    for (const [key, property] of Object.entries(value)) visit(property, `${path}.${key}`)
  }
  visit(initial, 'state')
  return shape
}

/**
 * Throws an `Error` that names the first value of the saved state that the new code lacks. The new
 * code may have more values.
 */
function assertFits(savedShape: Shape, newShape: Shape): void {
  for (const [path, kind] of Object.entries(savedShape)) {
    const newKind = newShape[path]
    if (newKind === undefined) throw new Error(`the new code has no ${path}`)
    if (newKind !== kind) throw new Error(`${path} was ${kind}, and is ${newKind} in the new code`)
  }
}

/**
 * Adds to the saved state, in place, the initial values of the properties that only the new code
 * has. Returns the saved state.
 */
function addNewProperties(savedState: unknown, initialState: unknown, savedShape: Shape): unknown {
  const visited = new Set<unknown>()
  const complete = (saved: unknown, initial: unknown, path: string): unknown => {
    if (!isPlain(saved) || !isPlain(initial) || visited.has(initial)) return saved
    visited.add(initial)
    for (const [key, property] of Object.entries(initial)) {
      const propertyPath = `${path}.${key}`
      const isNew = savedShape[propertyPath] === undefined
      saved[key] = isNew ? property : complete(saved[key], property, propertyPath)
    }
    return saved
  }
  return complete(savedState, initialState, 'state')
}

/** Returns the type of a value or, for an object, the name of its class. */
function findKind(value: unknown): string {
  if (typeof value !== 'object') return typeof value
  return value === null ? 'null' : (value.constructor?.name ?? 'Object')
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value))
