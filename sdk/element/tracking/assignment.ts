/** An entry of a sparse similarity matrix. Pairs of row and column without an entry cannot be matched. */
export interface Candidate {
  readonly row: number
  readonly column: number
  /** Greater than 0. */
  readonly similarity: number
}

/** The cheapest known way to reach a column from the row being inserted. */
interface PathStep {
  /** The last edge of the path. */
  readonly candidate: Candidate
  /** Reduced cost of the whole path. */
  readonly cost: number
}

/**
 * Solves the linear assignment problem: returns the candidates with the greatest total similarity such that each row
 * and each column occurs at most once. The result is in the order of the candidates.
 *
 * Most tracks have exactly one candidate detection that no other track competes for. Only the remaining, contested
 * candidates are passed to the solver.
 */
export function solveAssignment(candidates: readonly Candidate[]): Candidate[] {
  const rowCounts: number[] = []
  const columnCounts: number[] = []
  for (const { row, column } of candidates) {
    rowCounts[row] = (rowCounts[row] ?? 0) + 1
    columnCounts[column] = (columnCounts[column] ?? 0) + 1
  }
  const isContested = ({ row, column }: Candidate) => rowCounts[row]! > 1 || columnCounts[column]! > 1
  const contested = candidates.filter(isContested)
  const assigned = contested.length > 0 ? solveContested(contested) : new Set()
  return candidates.filter(candidate => !isContested(candidate) || assigned.has(candidate))
}

/**
 * Inserts one row at a time along the shortest augmenting path (Jonker and Volgenant 1987, "A Shortest Augmenting Path
 * Algorithm for Dense and Sparse Linear Assignment Problems", sparse variant).
 */
function solveContested(candidates: readonly Candidate[]): Set<Candidate> {
  const byRow = Map.groupBy(candidates, ({ row }) => row)
  // A row may stay unassigned: it is then matched with a dummy column of its own.
  for (const [row, rowCandidates] of byRow) rowCandidates.push({ row, column: -1 - row, similarity: 0 })
  const assignedToRow = new Map<number, Candidate>()
  const assignedToColumn = new Map<number, Candidate>()
  /** Dual variables of the columns. */
  const prices = new Map<number, number>()
  const getPrice = (column: number) => prices.get(column) ?? 0
  const reducedSimilarity = ({ column, similarity }: Candidate) => similarity - getPrice(column)

  for (const newRow of byRow.keys()) {
    const frontier = new Map<number, PathStep>()
    const visited = new Map<number, PathStep>()
    let last: PathStep | undefined

    // Dijkstra over reduced costs, from the new row until a free column is reached.
    for (let row: number | undefined = newRow; row !== undefined; ) {
      const current: Candidate | undefined = assignedToRow.get(row)
      const costSoFar = last && current ? last.cost + reducedSimilarity(current) : 0
      for (const candidate of byRow.get(row)!) {
        if (visited.has(candidate.column)) continue
        const cost = costSoFar - reducedSimilarity(candidate)
        const known = frontier.get(candidate.column)
        if (!known || cost < known.cost) frontier.set(candidate.column, { candidate, cost })
      }
      last = [...frontier.values()].reduce((min, step) => (step.cost < min.cost ? step : min))
      frontier.delete(last.candidate.column)
      visited.set(last.candidate.column, last)
      row = assignedToColumn.get(last.candidate.column)?.row
    }

    for (const [column, { cost }] of visited) prices.set(column, getPrice(column) + last!.cost - cost)
    // Augment: walk the path back to the new row and reassign each row on it.
    for (let step = last; step; ) {
      const { row, column } = step.candidate
      const previous = assignedToRow.get(row)
      assignedToRow.set(row, step.candidate)
      assignedToColumn.set(column, step.candidate)
      step = previous && visited.get(previous.column)
    }
  }
  return new Set(assignedToRow.values())
}
