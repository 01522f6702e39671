import type { Element } from '@eyrie/element'
import { createStreamClock } from '@eyrie/element/clock'
import { expect, it } from 'vitest'
import { MAX_STATE_LENGTH, openState } from './kept-state.ts'

const createElement = (state: unknown): Element => ({ state, process: () => ({}) })
const open = (element: Element) => openState(element, createStreamClock())

/**
 * Replaces code that began with `before` and has changed its state since. Returns the new state, or
 * why it was not kept.
 */
function replace<State>(before: State, change: (state: State) => void, initial: unknown): unknown {
  const [old, next] = [createElement(before), createElement(initial)]
  const [oldState, nextState] = [old, next].map(open)
  change(before)
  const { state, problem } = oldState!.save()
  if (problem !== undefined) return problem
  return nextState!.restore(state!).problem ?? next.state
}

it('new code continues with maps, sets, dates, arrays of numbers and properties that were undefined', () => {
  const initial = () => ({
    frames: 0,
    since: undefined as Date | undefined,
    tracks: new Map(),
    grid: new Float32Array(2),
  })
  const changed = {
    frames: 3,
    since: new Date(5),
    tracks: new Map([[7, { seen: new Set(['a']) }]]),
    grid: new Float32Array([1, 2]),
  }
  expect(replace(initial(), state => Object.assign(state, changed), initial())).toEqual(changed)
})

it('properties that are added while frames are processed need not be in the initial state', () => {
  const count = (state: Record<string, number>) => {
    state.person = 3
  }
  expect(replace({}, count, {})).toEqual({ person: 3 })
})

it('properties with which only the new code begins have their initial values', () => {
  const initial = { frames: 0, sides: { left: 0, right: 5 }, limit: 9 }
  const before = { frames: 0, sides: { left: 0 } }
  const change = (state: typeof before) => Object.assign(state, { frames: 3, sides: { left: 1 } })
  expect(replace(before, change, initial)).toEqual({
    frames: 3,
    sides: { left: 1, right: 5 },
    limit: 9,
  })
})

class Tracker {
  tracks = 0
}

it.each([
  [
    'a property of another type',
    { frames: 0 },
    { frames: '' },
    'state.frames was number, and is string in the new code',
  ],
  ['a removed property', { a: { b: 0 } }, { a: {} }, 'the new code has no state.a.b'],
  ['no state', { frames: 0 }, undefined, 'state was Object, and is undefined in the new code'],
  [
    'an object of a class',
    { tracker: new Tracker() },
    {},
    'state.tracker is a Tracker: only plain objects',
  ],
  [
    'an object of a class in a map',
    new Map([[1, new Tracker()]]),
    {},
    'a value of state is a Tracker',
  ],
  ['a function', { next: () => {} }, {}, 'state.next is a function, and not data'],
  ['a large state', new Uint8Array(600_000), {}, 'bytes, more than 524288'],
])('a state is not kept because of %s', (_, before, initial, reason) => {
  expect(replace<unknown>(before, () => {}, initial)).toContain(reason)
})

it('what code in another language has written is not kept', () => {
  const element = createElement({ frames: 2 })
  const { problem } = open(element).restore(Buffer.from('{"frames":1}').toString('base64'))
  expect([problem, element.state]).toEqual(['it is of code in another language', { frames: 2 }])
})

it('a state that refers to itself is kept', () => {
  interface Node {
    count: number
    self?: Node
  }
  const create = () => {
    const node: Node = { count: 0 }
    node.self = node
    return node
  }
  const kept = replace(create(), node => (node.count += 1), create()) as Node
  expect([kept.count, kept.self === kept]).toEqual([1, true])
})

it('an element without state has none to keep', () => {
  expect(open(createElement(undefined)).save()).toEqual({})
  expect(MAX_STATE_LENGTH).toBeLessThan(2 ** 20)
})
