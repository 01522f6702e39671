import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assign } from './assignment.ts'

/** The pairs chosen from a matrix, in which 0 is no candidate. */
const chosen = (matrix: number[][]) =>
  assign(
    matrix.flatMap((values, row) =>
      values.flatMap((similarity, column) => (similarity > 0 ? [{ row, column, similarity }] : [])),
    ),
  )

const pairs = (matrix: number[][]) => chosen(matrix).map(({ row, column }) => [row, column])

const total = (matrix: number[][]) => chosen(matrix).reduce((sum, { similarity }) => sum + similarity, 0)

/** The greatest total, by trying every way to pair the rows from `row` on with the columns that are left. */
function greatest(similarity: number[][], row = 0, taken: ReadonlySet<number> = new Set()): number {
  if (row === similarity.length) return 0
  const unpaired = greatest(similarity, row + 1, taken)
  const paired = similarity[row]!.flatMap((value, column) =>
    taken.has(column) ? [] : [value + greatest(similarity, row + 1, new Set([...taken, column]))],
  )
  return Math.max(unpaired, ...paired)
}

test('the best pairs of all win over the best pair of one', () => {
  const similarity = [
    [0.9, 0.8],
    [0.8, 0.1],
  ]
  expect(pairs(similarity)).toEqual([
    [0, 1],
    [1, 0],
  ])
})

test('what is not similar at all stays alone', () => {
  const similarity = [
    [0, 0],
    [0, 0.5],
  ]
  expect(pairs(similarity)).toEqual([[1, 1]])
})

test('nothing can be paired with nothing', () => {
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

test('no other way of pairing gives more', () => {
  fc.assert(
    fc.property(matrix, similarity => {
      expect(total(similarity)).toBeCloseTo(greatest(similarity), 10)
    }),
    { numRuns: 300 },
  )
})

test('no row and no column is paired twice', () => {
  fc.assert(
    fc.property(matrix, similarity => {
      const taken = pairs(similarity)
      expect(new Set(taken.map(([row]) => row)).size).toBe(taken.length)
      expect(new Set(taken.map(([, column]) => column)).size).toBe(taken.length)
    }),
  )
})
