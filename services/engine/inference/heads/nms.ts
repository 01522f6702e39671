import type { Candidate, DecodeHead } from './candidate.ts'

const ROW = 6

/** Rows of x0, y0, x1, y1 in input pixels, score, class: the graph has suppressed already. */
export const decodeNms: DecodeHead = ({ values, classes }, scoreThreshold) => {
  const candidates: Candidate[] = []
  for (let row = 0; row < values.length; row += ROW) {
    const score = values[row + 4]!
    const label = Math.round(values[row + 5]!)
    // Graphs with a fixed number of rows fill them up with a class that does not exist.
    if (!(score >= scoreThreshold) || label < 0 || label >= classes) continue
    candidates.push({
      x0: values[row]!,
      y0: values[row + 1]!,
      x1: values[row + 2]!,
      y1: values[row + 3]!,
      score,
      label,
    })
  }
  return candidates
}
