import { yoloxStrides } from '@eyrie/model-store/head-output'
import type { Candidate, DecodeHead, HeadOutput } from './candidate.ts'
import { bestClass, scoreOf } from './candidate.ts'

/**
 * YOLOX's raw head: a row holds the centre as an offset from its cell in cells, the size as a logarithm in cells,
 * objectness and class scores. Source: Ge et al., "YOLOX: Exceeding YOLO Series in 2021", `decode_outputs`.
 */
export const decodeYolox: DecodeHead = (output, scoreThreshold) => {
  const { values, classes, inputWidth, inputHeight } = output
  const candidates: Candidate[] = []
  let row = 0
  for (const stride of yoloxStrides) {
    const columns = inputWidth / stride
    const cells = columns * (inputHeight / stride)
    for (let cell = 0; cell < cells; cell++, row += 5 + classes) {
      // No class can lift a score above the objectness, and nearly all cells end here.
      if (!(values[row + 4]! >= scoreThreshold)) continue
      const label = bestClass(values, row, classes)
      const score = scoreOf(values, row, label)
      if (score >= scoreThreshold) candidates.push(boxOf(output, row, cell, columns, stride, score, label))
    }
  }
  return candidates
}

function boxOf(
  { values }: HeadOutput,
  row: number,
  cell: number,
  columns: number,
  stride: number,
  score: number,
  label: number,
): Candidate {
  const x = ((cell % columns) + values[row]!) * stride
  const y = (Math.floor(cell / columns) + values[row + 1]!) * stride
  const halfWidth = (Math.exp(values[row + 2]!) * stride) / 2
  const halfHeight = (Math.exp(values[row + 3]!) * stride) / 2
  return { x0: x - halfWidth, y0: y - halfHeight, x1: x + halfWidth, y1: y + halfHeight, score, label }
}
