/**
 * A possible match of a row and a column: in object tracking, of a track and a detection. Pairs
 * without a candidate cannot be matched.
 */
export interface Candidate {
  readonly row: number
  readonly column: number
  /** Greater than 0. */
  readonly similarity: number
}

/**
 * Solves the linear assignment problem: returns the candidates with the greatest total
 * similarity such that each row and each column occurs at most once. The result is in the
 * order of the candidates.
 *
 * Most tracks have exactly one candidate detection, and no other track competes for it. Only the
 * remaining, contested candidates are passed to the solver.
 */
export function solveAssignment(candidates: readonly Candidate[]): Candidate[] {
  const rowCounts: number[] = []
  const columnCounts: number[] = []
  for (const { row, column } of candidates) {
    rowCounts[row] = (rowCounts[row] ?? 0) + 1
    columnCounts[column] = (columnCounts[column] ?? 0) + 1
  }

  const isContested = ({ row, column }: Candidate) =>
    rowCounts[row]! > 1 || columnCounts[column]! > 1
  const contested = candidates.filter(isContested)
  const assigned = contested.length > 0 ? solveContested(contested) : new Set()
  return candidates.filter(candidate => !isContested(candidate) || assigned.has(candidate))
}

/**
 * Assigns one row after the other. If the best column of a new row is occupied, its occupant
 * moves to another column, whose occupant may have to move in turn. Of all such chains of moves,
 * the one that loses the least similarity is chosen: the shortest augmenting path (Jonker and
 * Volgenant 1987, "A Shortest Augmenting Path Algorithm for Dense and Sparse Linear Assignment
 * Problems", sparse variant).
 */
function solveContested(candidates: readonly Candidate[]): Set<Candidate> {
  const candidatesByRow = Map.groupBy(candidates, ({ row }) => row)
  // A row may remain unassigned: it is then matched with a dummy column of its own.
  for (const [row, rowCandidates] of candidatesByRow) {
    rowCandidates.push({ row, column: -1 - row, similarity: 0 })
  }

  const assignment: Assignment = { byRow: new Map(), byColumn: new Map(), prices: new Map() }
  for (const row of candidatesByRow.keys()) {
    const path = findShortestPath(row, candidatesByRow, assignment)
    updatePrices(path, assignment)
    augment(path, assignment)
  }
  return new Set(assignment.byRow.values())
}

/** The assignment of the rows that have been inserted so far. */
interface Assignment {
  readonly byRow: Map<number, Candidate>
  readonly byColumn: Map<number, Candidate>
  /**
   * The price of each column in units of similarity, as in an auction (the dual
   * variables); 0 if absent.
   */
  readonly prices: Map<number, number>
}

/** The cheapest known way to reach a column from the row that is being inserted. */
interface PathStep {
  /** The last edge of the way. */
  readonly candidate: Candidate
  /** Similarity that is lost on the whole way, after the prices of the columns. */
  readonly cost: number
}

/** The shortest path from a new row to a free column. */
interface AugmentingPath {
  readonly last: PathStep
  /** The steps whose cost is known to be minimal, by column. They include the steps of the path. */
  readonly visited: ReadonlyMap<number, PathStep>
}

const getPrice = (prices: Assignment['prices'], column: number) => prices.get(column) ?? 0

/** Finds the path by Dijkstra's algorithm, with the lost similarity as the length of an edge. */
function findShortestPath(
  newRow: number,
  candidatesByRow: ReadonlyMap<number, Candidate[]>,
  { byColumn, prices }: Assignment,
): AugmentingPath {
  const reducedSimilarity = ({ column, similarity }: Candidate) =>
    similarity - getPrice(prices, column)
  const frontier = new Map<number, PathStep>()
  const visited = new Map<number, PathStep>()
  let row = newRow
  let costSoFar = 0

  for (;;) {
    for (const candidate of candidatesByRow.get(row)!) {
      if (visited.has(candidate.column)) continue
      const cost = costSoFar - reducedSimilarity(candidate)
      const known = frontier.get(candidate.column)
      if (!known || cost < known.cost) frontier.set(candidate.column, { candidate, cost })
    }

    const cheapest = findCheapest(frontier)
    const { column } = cheapest.candidate
    frontier.delete(column)
    visited.set(column, cheapest)

    const occupant = byColumn.get(column)
    if (!occupant) return { last: cheapest, visited }
    // The occupant has to move to another column.
    row = occupant.row
    costSoFar = cheapest.cost + reducedSimilarity(occupant)
  }
}

/** The frontier is never empty: the dummy column of the new row is free. */
function findCheapest(frontier: ReadonlyMap<number, PathStep>): PathStep {
  let cheapest: PathStep | undefined
  for (const step of frontier.values()) if (!cheapest || step.cost < cheapest.cost) cheapest = step
  return cheapest!
}

/**
 * Raises the prices of the visited columns, so that each assigned row has its best column at the
 * new prices. Dijkstra's algorithm requires this: no further move can then have a negative cost.
 */
function updatePrices({ last, visited }: AugmentingPath, { prices }: Assignment): void {
  for (const [column, { cost }] of visited) {
    prices.set(column, getPrice(prices, column) + last.cost - cost)
  }
}

/** Walks the path back to the new row and reassigns each row on it. */
function augment({ last, visited }: AugmentingPath, { byRow, byColumn }: Assignment): void {
  for (let step: PathStep | undefined = last; step; ) {
    const { row, column } = step.candidate
    const previous = byRow.get(row)
    byRow.set(row, step.candidate)
    byColumn.set(column, step.candidate)
    step = previous && visited.get(previous.column)
  }
}
