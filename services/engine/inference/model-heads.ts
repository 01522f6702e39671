import type { ModelCard } from '@eyrie/contract/model'
import { YOLOX_STRIDES } from '@eyrie/model-store/head-output'

/**
 * Decoders for the output tensors of detection models. The head of a model, named in its model
 * card, is the format of its output: how each row describes one candidate object.
 */

/**
 * An object that a model proposes: box corners in input pixels, and `label`, an index
 * into the model's labels.
 */
export interface Candidate {
  x0: number
  y0: number
  x1: number
  y1: number
  score: number
  label: number
}

/** The output tensor of a model in row-major order, and the size of the model's input in pixels. */
export interface HeadOutput {
  values: Float32Array
  /** Number of classes. */
  classes: number
  inputWidth: number
  inputHeight: number
}

/**
 * Returns the candidates with at least this score in output order, before non-maximum suppression.
 */
export type DecodeHead = (output: HeadOutput, scoreThreshold: number) => Candidate[]

/**
 * Columns of a row: four for the box, then the objectness (the score that the row contains any
 * object), then one score for each class.
 */
const OBJECTNESS = 4
const CLASS_SCORES = 5
/** Columns of a row of the `nms` head: four for the box, then the score and the class. */
const NMS_COLUMNS = 6
const NMS_SCORE = 4
const NMS_CLASS = 5

/**
 * Decodes rows of centre x, centre y, width and height in input pixels, objectness and class
 * scores.
 */
const decodeBoxHead: DecodeHead = (output, scoreThreshold) => {
  const { values, classes } = output
  const candidates: Candidate[] = []
  for (let row = 0; row < values.length; row += CLASS_SCORES + classes) {
    const best = findBestClass(output, row, scoreThreshold)
    if (!best) continue

    const box = {
      x: values[row]!,
      y: values[row + 1]!,
      width: values[row + 2]!,
      height: values[row + 3]!,
    }
    candidates.push(createCandidate(box, best))
  }
  return candidates
}

/**
 * Decodes the raw output of YOLOX, which has one row for each cell of the grids. A row contains the
 * centre of the box as an offset from the cell and the logarithm of the box size, both in units of
 * the cell size, then the objectness and the class scores. Source: `decode_outputs` of Ge et al.,
 * "YOLOX: Exceeding YOLO Series in 2021".
 */
const decodeYoloxHead: DecodeHead = (output, scoreThreshold) => {
  const { values, classes, inputWidth, inputHeight } = output
  const candidates: Candidate[] = []
  let row = 0
  for (const stride of YOLOX_STRIDES) {
    const columns = inputWidth / stride
    const cells = columns * (inputHeight / stride)
    for (let cell = 0; cell < cells; cell++, row += CLASS_SCORES + classes) {
      const best = findBestClass(output, row, scoreThreshold)
      if (!best) continue

      const box = {
        x: ((cell % columns) + values[row]!) * stride,
        y: (Math.floor(cell / columns) + values[row + 1]!) * stride,
        width: Math.exp(values[row + 2]!) * stride,
        height: Math.exp(values[row + 3]!) * stride,
      }
      candidates.push(createCandidate(box, best))
    }
  }
  return candidates
}

/**
 * Decodes rows of x0, y0, x1 and y1 in input pixels, score and class. The model itself has
 * suppressed overlapping boxes.
 */
const decodeNmsHead: DecodeHead = ({ values, classes }, scoreThreshold) => {
  const candidates: Candidate[] = []
  for (let row = 0; row < values.length; row += NMS_COLUMNS) {
    const score = values[row + NMS_SCORE]!
    const label = Math.round(values[row + NMS_CLASS]!)
    // Models with a fixed number of rows fill unused rows with a class that does not exist.
    const isPadding = label < 0 || label >= classes
    // A negated comparison also rejects NaN.
    if (isPadding || !(score >= scoreThreshold)) continue

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

/**
 * Returns the class with the greatest score in a row, or undefined if this score is below the
 * threshold. The score is at most the objectness, so comparing the objectness first rules out
 * nearly all rows.
 */
function findBestClass(
  { values, classes }: HeadOutput,
  row: number,
  scoreThreshold: number,
): Pick<Candidate, 'score' | 'label'> | undefined {
  const objectness = values[row + OBJECTNESS]!
  // A negated comparison also rejects NaN.
  if (!(objectness >= scoreThreshold)) return undefined

  const firstScore = row + CLASS_SCORES
  let best = 0
  for (let label = 1; label < classes; label++) {
    if (values[firstScore + label]! > values[firstScore + best]!) best = label
  }
  const score = objectness * values[firstScore + best]!
  return score >= scoreThreshold ? { score, label: best } : undefined
}

/** A box by its centre (`x`, `y`) and size. */
interface CentredBox {
  x: number
  y: number
  width: number
  height: number
}

function createCandidate(
  { x, y, width, height }: CentredBox,
  { score, label }: Pick<Candidate, 'score' | 'label'>,
): Candidate {
  return {
    x0: x - width / 2,
    y0: y - height / 2,
    x1: x + width / 2,
    y1: y + height / 2,
    score,
    label,
  }
}

/** The decoder of every head that a model card can name. */
export const HEAD_DECODERS: Record<ModelCard['head'], DecodeHead> = {
  yolox: decodeYoloxHead,
  decoded: decodeBoxHead,
  nms: decodeNmsHead,
}
