import type { Point } from '@eyrie/element'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countNetCrossings, extendEnds } from './polyline-geometry.ts'

const path = (...steps: [number, number][]): Point[] => steps.map(([x, y]) => ({ x, y }))

function countPath(line: Point[], positions: Point[]): number {
  const extended = extendEnds(line)
  return positions
    .slice(1)
    .reduce((net, to, i) => net + countNetCrossings(positions[i]!, to, extended), 0)
}

const level = path([2, 5], [8, 5])

describe('countNetCrossings', () => {
  it.each([
    ['from left to right: up', path([5, 3], [5, 7]), 1],
    ['from right to left: down', path([5, 7], [5, 3]), -1],
    ['beyond the end', path([9, 3], [9, 7]), 0],
    ['through the first point', path([2, 3], [2, 7]), 1],
    ['through the last point', path([8, 7], [8, 3]), -1],
    ['onto the line and across it', path([5, 3], [5, 5], [5, 7]), 1],
    ['onto the line and back', path([5, 3], [5, 5], [4, 3]), 0],
    ['onto the line from the other side and back', path([5, 7], [5, 5], [4, 7]), 0],
    ['along the line', path([0, 5], [3, 5], [6, 5], [10, 5]), 0],
    ['onto the line, along it and back', path([3, 3], [3, 5], [6, 5], [6, 3]), 0],
    ['onto the line, along it and across it', path([3, 3], [3, 5], [6, 5], [6, 7]), 1],
    ['back and forth', path([5, 3], [5, 7], [5, 3], [5, 7]), 1],
    ['on the line without moving', path([5, 5], [5, 5]), 0],
  ])('counts a step %s', (_, positions, net) => {
    expect(countPath(level, positions)).toBe(net)
  })

  it('swaps up and down if the line is reversed', () => {
    expect(countPath(path([8, 5], [2, 5]), path([5, 3], [5, 7]))).toBe(-1)
  })

  const roof = path([0, 6], [5, 2], [10, 6])

  it.each([
    ['through the corner', path([5, 0], [5, 4]), 1],
    ['touching the corner', path([3, 2], [7, 2]), 0],
    ['in through one side and out through the other', path([0, 4], [10, 4]), 0],
    ['in through one side', path([0, 4], [5, 4]), 1],
  ])('counts a step near a vertex, %s', (_, positions, net) => {
    expect(countPath(roof, positions)).toBe(net)
  })

  it('never counts a line without length', () => {
    expect(countPath(path([5, 5], [5, 5]), path([5, 3], [5, 7]))).toBe(0)
  })

  // All values lie on a small grid, so degenerate cases are frequent.
  const height = fc.integer({ min: 0, max: 10 })
  const dividing = fc
    // Numbers of vertices with an integer distance, so that degenerate cases are exact.
    .constantFrom(2, 3, 6)
    .chain(corners => fc.array(height, { minLength: corners, maxLength: corners }))
    .map(heights => heights.map((y, i) => ({ x: (i * 10) / (heights.length - 1), y })))
  const position = fc.record({
    x: fc.integer({ min: 0, max: 10 }),
    y: fc.integer({ min: -1, max: 11 }),
  })

  function sideOf(line: Point[], { x, y }: Point): number {
    const i = Math.max(
      1,
      line.findIndex(corner => corner.x >= x),
    )
    const [a, b] = [line[i - 1]!, line[i]!]
    return Math.sign((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x))
  }

  it('depends only on the first and the last position if the line divides the picture', () => {
    fc.assert(
      fc.property(
        dividing,
        fc.array(position, { minLength: 2, maxLength: 12 }),
        (line, positions) => {
          const start = sideOf(line, positions[0]!)
          const end = sideOf(line, positions.at(-1)!)
          fc.pre(start !== 0 && end !== 0)
          // The ends are extended far beyond the picture, so that no path leads around the line.
          const infiniteLine = [{ x: -1e3, y: line[0]!.y }, ...line, { x: 1e3, y: line.at(-1)!.y }]
          expect(countPath(infiniteLine, positions)).toBe((end - start) / 2)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
