import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCycles } from './cycles.ts'
import { findRelativeImports, productFiles } from './sources.ts'

const files = productFiles()

/** Imports between files, or between the nodes that `toNode` maps files to. */
function buildGraph(toNode: (file: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const file of files) {
    const node = toNode(file)
    const targets = graph.get(node) ?? new Set()
    graph.set(node, targets)
    for (const target of findRelativeImports(file).map(toNode)) {
      if (target !== node) targets.add(target)
    }
  }
  return graph
}

describe('layers', () => {
  it('keep folders free of import cycles, imports of types included', () => {
    expect(findCycles(buildGraph(dirname))).toEqual([])
  })

  it('keep files free of import cycles, imports of types included', () => {
    expect(findCycles(buildGraph(file => file))).toEqual([])
  })
})
