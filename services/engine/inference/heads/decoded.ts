import type { Candidate, DecodeHead } from './candidate.ts'
import { bestClass, scoreOf } from './candidate.ts'

/** Rows of centre x, centre y, width, height in input pixels, objectness, class scores. */
export const decodeDecoded: DecodeHead = ({ values, classes }, scoreThreshold) => {
  const candidates: Candidate[] = []
  for (let row = 0; row < values.length; row += 5 + classes) {
    if (!(values[row + 4]! >= scoreThreshold)) continue
    const label = bestClass(values, row, classes)
    const score = scoreOf(values, row, label)
    if (!(score >= scoreThreshold)) continue
    const x = values[row]!
    const y = values[row + 1]!
    const halfWidth = values[row + 2]! / 2
    const halfHeight = values[row + 3]! / 2
    candidates.push({
      x0: x - halfWidth,
      y0: y - halfHeight,
      x1: x + halfWidth,
      y1: y + halfHeight,
      score,
      label,
    })
  }
  return candidates
}
