import { describe, expect, it } from 'vitest'
import { findCycles } from './cycles.ts'

const graph = (edges: Record<string, string[]>) =>
  new Map(Object.entries(edges).map(([node, next]) => [node, new Set(next)]))

describe('findCycles', () => {
  it('finds nothing in a graph without cycles', () => {
    expect(findCycles(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toEqual([])
  })

  it('finds a cycle of two nodes', () => {
    expect(findCycles(graph({ a: ['b'], b: ['a', 'c'], c: [] }))).toEqual([['a', 'b']])
  })

  it('joins overlapping cycles into one component', () => {
    expect(findCycles(graph({ a: ['b'], b: ['c'], c: ['a', 'd'], d: ['b'] }))).toEqual([
      ['a', 'b', 'c', 'd'],
    ])
  })

  it('finds separate cycles', () => {
    expect(findCycles(graph({ a: ['b'], b: ['a', 'c'], c: ['d'], d: ['c'] }))).toEqual([
      ['c', 'd'],
      ['a', 'b'],
    ])
  })
})
