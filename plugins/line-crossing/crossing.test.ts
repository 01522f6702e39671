import type { Point } from '@eyrie/element'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { netCrossings, withEnds } from './crossing.ts'

const path = (...steps: [number, number][]): Point[] => steps.map(([x, y]) => ({ x, y }))

function walk(line: Point[], positions: Point[]): number {
  const ended = withEnds(line)
  return positions.slice(1).reduce((net, to, i) => net + netCrossings(positions[i]!, to, ended), 0)
}

const level = path([2, 5], [8, 5])

test.each([
  ['from the left side to the right is up', path([5, 3], [5, 7]), 1],
  ['from the right side to the left is down', path([5, 7], [5, 3]), -1],
  ['past the end is nothing', path([9, 3], [9, 7]), 0],
  ['through the first point', path([2, 3], [2, 7]), 1],
  ['through the last point', path([8, 7], [8, 3]), -1],
  ['to the line and on', path([5, 3], [5, 5], [5, 7]), 1],
  ['to the line and back', path([5, 3], [5, 5], [4, 3]), 0],
  ['to the line from the other side and back', path([5, 7], [5, 5], [4, 7]), 0],
  ['along the line', path([0, 5], [3, 5], [6, 5], [10, 5]), 0],
  ['onto the line, along it and off to where it came from', path([3, 3], [3, 5], [6, 5], [6, 3]), 0],
  ['onto the line, along it and off to the other side', path([3, 3], [3, 5], [6, 5], [6, 7]), 1],
  ['to and fro', path([5, 3], [5, 7], [5, 3], [5, 7]), 1],
  ['standing still on the line', path([5, 5], [5, 5]), 0],
])('a step %s', (_, positions, net) => {
  expect(walk(level, positions)).toBe(net)
})

test('a line that runs the other way swaps up and down', () => {
  expect(walk(path([8, 5], [2, 5]), path([5, 3], [5, 7]))).toBe(-1)
})

const roof = path([0, 6], [5, 2], [10, 6])

test.each([
  ['through the corner', path([5, 0], [5, 4]), 1],
  ['touching the corner', path([3, 2], [7, 2]), 0],
  ['in by one side and out by the other', path([0, 4], [10, 4]), 0],
  ['in by one side', path([0, 4], [5, 4]), 1],
])('over a corner, %s', (_, positions, net) => {
  expect(walk(roof, positions)).toBe(net)
})

test('a line without length is never crossed', () => {
  expect(walk(path([5, 5], [5, 5]), path([5, 3], [5, 7]))).toBe(0)
})

// All on a small grid, so that positions, corners and directions coincide often.
const height = fc.integer({ min: 0, max: 10 })
const dividing = fc
  // Numbers of corners whose distance is a whole number: the grid's coincidences must be exact ones.
  .constantFrom(2, 3, 6)
  .chain(corners => fc.array(height, { minLength: corners, maxLength: corners }))
  .map(heights => heights.map((y, i) => ({ x: (i * 10) / (heights.length - 1), y })))
const position = fc.record({ x: fc.integer({ min: 0, max: 10 }), y: fc.integer({ min: -1, max: 11 }) })

function below(line: Point[], { x, y }: Point): number {
  const i = Math.max(
    1,
    line.findIndex(corner => corner.x >= x),
  )
  const [a, b] = [line[i - 1]!, line[i]!]
  return Math.sign((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x))
}

test('over a line that divides the picture, only the sides of the first and the last position matter', () => {
  fc.assert(
    fc.property(dividing, fc.array(position, { minLength: 2, maxLength: 12 }), (line, positions) => {
      const start = below(line, positions[0]!)
      const end = below(line, positions.at(-1)!)
      fc.pre(start !== 0 && end !== 0)
      // The ends are drawn out to infinity, so that no way leads around the line.
      const endless = [{ x: -1e3, y: line[0]!.y }, ...line, { x: 1e3, y: line.at(-1)!.y }]
      expect(walk(endless, positions)).toBe((end - start) / 2)
    }),
    { numRuns: 2_000 },
  )
})
