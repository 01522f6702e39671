/**
 * Strongly connected components with more than one node, each sorted (Tarjan, "Depth-first search
 * and linear graph algorithms", 1972).
 */
export function findCycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []

  function visit(node: string): number {
    const own = index.size
    index.set(node, own)
    lowest.set(node, own)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      const reached = !index.has(next) ? visit(next) : stack.includes(next) ? index.get(next)! : own
      lowest.set(node, Math.min(lowest.get(node)!, reached))
    }
    if (lowest.get(node) === own) {
      const component = stack.splice(stack.indexOf(node))
      if (component.length > 1) cycles.push(component.sort())
    }
    return lowest.get(node)!
  }

  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return cycles
}
