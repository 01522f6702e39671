/**
 * Pairs rows with columns so that the sum of their similarities is the greatest. A pair of similarity 0 is none.
 *
 * Shortest augmenting paths after Jonker and Volgenant 1987, "A Shortest Augmenting Path Algorithm for Dense and Sparse
 * Linear Assignment Problems"; O(n³).
 */
export function assign(similarity: readonly (readonly number[])[]): [row: number, column: number][] {
  const rows = similarity.length
  const columns = similarity[0]?.length ?? 0
  if (rows > columns) return assign(transposed(similarity)).map(([column, row]) => [row, column])
  const cost = similarity.map(row => row.map(value => -value))
  return [...cheapest(cost, columns)]
    .map((row, column): [number, number] => [row, column])
    .filter(([row, column]) => row >= 0 && similarity[row]![column]! > 0)
}

function transposed(matrix: readonly (readonly number[])[]): number[][] {
  return (matrix[0] ?? []).map((_, column) => matrix.map(row => row[column]!))
}

/** The row of each column, or −1, where every row has a column of its own. Rows are added one at a time. */
function cheapest(cost: readonly (readonly number[])[], columns: number): Int32Array {
  const rowOf = new Int32Array(columns).fill(-1)
  const rowPrice = new Float64Array(cost.length)
  const columnPrice = new Float64Array(columns)

  for (let start = 0; start < cost.length; start++) {
    const distance = new Float64Array(columns).fill(Number.POSITIVE_INFINITY)
    const previous = new Int32Array(columns).fill(-1)
    const reached: number[] = []
    const open = new Set(rowOf.keys())

    // Dijkstra from the new row over pairs that may be swapped, until a column is free.
    let column = -1
    let length = 0
    for (let row = start; row >= 0; row = rowOf[column]!) {
      let nearest = -1
      for (const candidate of open) {
        const way = length + cost[row]![candidate]! - rowPrice[row]! - columnPrice[candidate]!
        if (way < distance[candidate]!) {
          distance[candidate] = way
          previous[candidate] = column
        }
        if (nearest < 0 || distance[candidate]! < distance[nearest]!) nearest = candidate
      }
      column = nearest
      length = distance[column]!
      open.delete(column)
      reached.push(column)
    }

    rowPrice[start]! += length
    for (const passed of reached.slice(0, -1)) {
      const slack = length - distance[passed]!
      columnPrice[passed]! -= slack
      rowPrice[rowOf[passed]!]! += slack
    }

    while (column >= 0) {
      const before = previous[column]!
      rowOf[column] = before < 0 ? start : rowOf[before]!
      column = before
    }
  }
  return rowOf
}
