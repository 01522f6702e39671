import type { ModelCard } from '@eyrie/contract/model'
import { yoloxStrides } from '@eyrie/model-store/head-output'

/** A proposed box: corners in input pixels, `label` an index into the model's labels. */
export interface Candidate {
  x0: number
  y0: number
  x1: number
  y1: number
  score: number
  label: number
}

/** One output tensor of a model, row by row, and the size of its input in pixels. */
export interface HeadOutput {
  values: Float32Array
  classes: number
  inputWidth: number
  inputHeight: number
}

/** Decodes the boxes whose score reaches the threshold, in output order and before suppression. */
export type DecodeHead = (output: HeadOutput, scoreThreshold: number) => Candidate[]

/** The fields of a row before its class scores: four of the box, then objectness. */
const OBJECTNESS = 4
const CLASSES = 5

/** Rows of centre x, centre y, width, height in input pixels, objectness, class scores. */
const decodeDecoded: DecodeHead = ({ values, classes }, scoreThreshold) => {
  const candidates: Candidate[] = []
  for (let row = 0; row < values.length; row += CLASSES + classes) {
    if (!(values[row + OBJECTNESS]! >= scoreThreshold)) continue
    const label = findBestClass(values, row, classes)
    const score = computeScore(values, row, label)
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

/**
 * The raw head of YOLOX. A row holds the centre as an offset from its grid cell and the logarithm of the size, both in
 * cells, then objectness and class scores. Source: Ge et al., "YOLOX: Exceeding YOLO Series in 2021", `decode_outputs`.
 */
const decodeYolox: DecodeHead = ({ values, classes, inputWidth, inputHeight }, scoreThreshold) => {
  const candidates: Candidate[] = []
  let row = 0
  for (const stride of yoloxStrides) {
    const columns = inputWidth / stride
    const cells = columns * (inputHeight / stride)
    for (let cell = 0; cell < cells; cell++, row += CLASSES + classes) {
      // The score is at most the objectness, which rules out nearly all cells.
      if (!(values[row + OBJECTNESS]! >= scoreThreshold)) continue
      const label = findBestClass(values, row, classes)
      const score = computeScore(values, row, label)
      if (!(score >= scoreThreshold)) continue
      const x = ((cell % columns) + values[row]!) * stride
      const y = (Math.floor(cell / columns) + values[row + 1]!) * stride
      const halfWidth = (Math.exp(values[row + 2]!) * stride) / 2
      const halfHeight = (Math.exp(values[row + 3]!) * stride) / 2
      candidates.push({
        x0: x - halfWidth,
        y0: y - halfHeight,
        x1: x + halfWidth,
        y1: y + halfHeight,
        score,
        label,
      })
    }
  }
  return candidates
}

const NMS_ROW = 6

/** Rows of x0, y0, x1, y1 in input pixels, score, class. The model has already suppressed overlaps. */
const decodeNms: DecodeHead = ({ values, classes }, scoreThreshold) => {
  const candidates: Candidate[] = []
  for (let row = 0; row < values.length; row += NMS_ROW) {
    const score = values[row + 4]!
    const label = Math.round(values[row + 5]!)
    // Models with a fixed number of rows pad their output with a class that does not exist.
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

function findBestClass(values: Float32Array, row: number, classes: number): number {
  let best = 0
  for (let label = 1; label < classes; label++)
    if (values[row + CLASSES + label]! > values[row + CLASSES + best]!) best = label
  return best
}

function computeScore(values: Float32Array, row: number, label: number): number {
  return values[row + OBJECTNESS]! * values[row + CLASSES + label]!
}

/** The decoder of every head that a model card can name. */
export const decodeHeads: Record<ModelCard['head'], DecodeHead> = {
  yolox: decodeYolox,
  decoded: decodeDecoded,
  nms: decodeNms,
}
