import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { solveAssignment } from './assignment.ts'

/** Solves a dense matrix in which 0 means no candidate. */
const solve = (matrix: number[][]) =>
  solveAssignment(
    matrix.flatMap((values, row) =>
      values.flatMap((similarity, column) => (similarity > 0 ? [{ row, column, similarity }] : [])),
    ),
  )

const pairs = (matrix: number[][]) => solve(matrix).map(({ row, column }) => [row, column])

const totalSimilarity = (matrix: number[][]) =>
  solve(matrix).reduce((sum, { similarity }) => sum + similarity, 0)

/**
 * Maximum total by brute force over the rows from `row` on and the columns not in `usedColumns`.
 */
function maxSimilarity(
  similarity: number[][],
  row = 0,
  usedColumns: ReadonlySet<number> = new Set(),
): number {
  if (row === similarity.length) return 0
  const withoutRow = maxSimilarity(similarity, row + 1, usedColumns)
  const withRow = similarity[row]!.flatMap((value, column) =>
    usedColumns.has(column)
      ? []
      : [value + maxSimilarity(similarity, row + 1, new Set([...usedColumns, column]))],
  )
  return Math.max(withoutRow, ...withRow)
}

describe('solveAssignment', () => {
  it('prefers the best total over the best single pair', () => {
    const similarity = [
      [0.9, 0.8],
      [0.8, 0.1],
    ]
    expect(pairs(similarity)).toEqual([
      [0, 1],
      [1, 0],
    ])
  })

  it('leaves rows without candidates unassigned', () => {
    const similarity = [
      [0, 0],
      [0, 0.5],
    ]
    expect(pairs(similarity)).toEqual([[1, 1]])
  })

  it('accepts an empty matrix', () => {
    expect(pairs([])).toEqual([])
    expect(pairs([[], []])).toEqual([])
  })

  const matrix = fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }))
    .chain(([rows, columns]) => {
      const similar = fc.double({ min: 0.01, max: 1, noNaN: true })
      const value = fc.oneof(fc.constant(0), fc.constantFrom(0.25, 0.5), similar)
      return fc.array(fc.array(value, { minLength: columns, maxLength: columns }), {
        minLength: rows,
        maxLength: rows,
      })
    })

  it('finds the maximum total similarity', () => {
    fc.assert(
      fc.property(matrix, similarity => {
        expect(totalSimilarity(similarity)).toBeCloseTo(maxSimilarity(similarity), 10)
      }),
      { numRuns: 300 },
    )
  })

  it('assigns each row and each column at most once', () => {
    fc.assert(
      fc.property(matrix, similarity => {
        const assigned = pairs(similarity)
        expect(new Set(assigned.map(([row]) => row)).size).toBe(assigned.length)
        expect(new Set(assigned.map(([, column]) => column)).size).toBe(assigned.length)
      }),
    )
  })
})
