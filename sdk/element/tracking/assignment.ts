/** A row and a column that may be paired; `similarity` is more than 0. */
export interface Candidate {
  readonly row: number
  readonly column: number
  readonly similarity: number
}

/** How to come by a column: the pair that takes it, and how much similarity is lost on the way there. */
interface Way {
  readonly pair: Candidate
  readonly loss: number
}

/**
 * Chooses the pairs whose similarities have the greatest sum, each row and each column in one at most, in the order of
 * the candidates. Most of what is followed has one candidate, and that no other: only about the rest has to be decided.
 */
export function assign(candidates: readonly Candidate[]): Candidate[] {
  const inRow: number[] = []
  const inColumn: number[] = []
  for (const { row, column } of candidates) {
    inRow[row] = (inRow[row] ?? 0) + 1
    inColumn[column] = (inColumn[column] ?? 0) + 1
  }
  const isContested = ({ row, column }: Candidate) => inRow[row]! > 1 || inColumn[column]! > 1
  const contested = candidates.filter(isContested)
  const won = contested.length > 0 ? decide(contested) : new Set()
  return candidates.filter(candidate => !isContested(candidate) || won.has(candidate))
}

/**
 * Shortest augmenting paths after Jonker and Volgenant 1987, "A Shortest Augmenting Path Algorithm for Dense and Sparse
 * Linear Assignment Problems", the sparse way.
 */
function decide(candidates: readonly Candidate[]): Set<Candidate> {
  const ofRow = Map.groupBy(candidates, ({ row }) => row)
  // A row may stay alone: that is a pair with a column that no other wants.
  for (const [row, own] of ofRow) own.push({ row, column: -1 - row, similarity: 0 })
  const pairOfRow = new Map<number, Candidate>()
  const pairOfColumn = new Map<number, Candidate>()
  /** What the others lose where a column is taken. */
  const prices = new Map<number, number>()
  const priceOf = (column: number) => prices.get(column) ?? 0
  const worth = ({ column, similarity }: Candidate) => similarity - priceOf(column)

  // Rows are added one at a time.
  for (const start of ofRow.keys()) {
    const open = new Map<number, Way>()
    const passed = new Map<number, Way>()
    let end: Way | undefined

    // Dijkstra from the new row over pairs that may be given up for others, until a column is free.
    for (let row: number | undefined = start; row !== undefined; ) {
      const given: Candidate | undefined = pairOfRow.get(row)
      const lost = end && given ? end.loss + worth(given) : 0
      for (const pair of ofRow.get(row)!) {
        if (passed.has(pair.column)) continue
        const loss = lost - worth(pair)
        const known = open.get(pair.column)
        if (!known || loss < known.loss) open.set(pair.column, { pair, loss })
      }
      end = [...open.values()].reduce((least, way) => (way.loss < least.loss ? way : least))
      open.delete(end.pair.column)
      passed.set(end.pair.column, end)
      row = pairOfColumn.get(end.pair.column)?.row
    }

    for (const [column, { loss }] of passed) prices.set(column, priceOf(column) + end!.loss - loss)
    for (let way = end; way; ) {
      const { row, column } = way.pair
      const given = pairOfRow.get(row)
      pairOfRow.set(row, way.pair)
      pairOfColumn.set(column, way.pair)
      way = given && passed.get(given.column)
    }
  }
  return new Set(pairOfRow.values())
}
