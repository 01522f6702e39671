import type { ModelCard } from '@eyrie/contract/model'
import type { Tensor } from 'onnxruntime-node'

/**
 * Checks whether a detector's output has the format that its card names. The card describes the
 * model: its classes (`labels`), its input and, in the field `head`, the format of its output:
 *
 * - `yolox`: [1, cells, 5 + classes], not yet converted to pixels
 * - `decoded`: [1, N, 5 + classes], boxes in input pixels
 * - `nms`: [N, 6] or [1, N, 6], boxes in input pixels after non-maximum suppression
 */

/** Size of an image in pixels. */
export interface Size {
  width: number
  height: number
}

/** The output of a model that contains the detections: float32 values, row by row. */
export interface HeadTensor {
  name: string
  dims: readonly number[]
  values: Float32Array
}

type HeadCard = Pick<ModelCard, 'head' | 'labels'>

/**
 * Cell sizes of the three feature maps of YOLOX, in input pixels. The output lists all cells in
 * this order, row by row.
 */
export const YOLOX_STRIDES = [8, 16, 32] as const

/** An NMS row: the coordinates x0, y0, x1 and y1 of the box, score, class. */
const NMS_COLUMNS = 6
/** Columns before the scores of the classes: four for the box, then objectness. */
const COLUMNS_BEFORE_CLASSES = 5
/** Index of the first score in a row of any format. */
const FIRST_SCORE_COLUMN = 4
/** Rounding in the model may lift a score slightly above 1. */
const MAX_SCORE = 1.001

/**
 * Finds the output in the format of the card's head. Throws an `Error` with the mismatch of each
 * output if none fits.
 */
export function findOutput(
  card: HeadCard,
  outputs: Readonly<Record<string, Tensor>>,
  inputSize: Size,
): HeadTensor {
  const mismatches: string[] = []
  for (const [name, tensor] of Object.entries(outputs)) {
    const mismatch = describeMismatch(card, tensor, inputSize)
    if (mismatch === undefined) {
      return { name, dims: tensor.dims, values: tensor.data as Float32Array }
    }
    mismatches.push(`output ${name} [${tensor.dims.join(', ')}] ${mismatch}`)
  }
  throw new Error(`no output fits the head ${card.head}: ${mismatches.join('; ')}`)
}

/**
 * Throws an `Error` if a score is outside 0..1, which happens if the model was exported
 * without its sigmoid.
 */
export function assertScoresInRange(card: HeadCard, { name, values }: HeadTensor): void {
  const columns = countColumns(card)
  const endOfScores = card.head === 'nms' ? FIRST_SCORE_COLUMN + 1 : columns
  for (let row = 0; row < values.length; row += columns) {
    for (let i = row + FIRST_SCORE_COLUMN; i < row + endOfScores; i++) {
      const score = values[i]!
      if (!(score >= 0 && score <= MAX_SCORE)) {
        throw new Error(
          `output ${name} contains the score ${score}, outside 0..1: export the model with its sigmoid`,
        )
      }
    }
  }
}

const countColumns = ({ head, labels }: HeadCard) =>
  head === 'nms' ? NMS_COLUMNS : COLUMNS_BEFORE_CLASSES + labels.length

/** Explains why an output does not fit the head; undefined if it does. */
function describeMismatch(
  card: HeadCard,
  { type, dims }: Tensor,
  inputSize: Size,
): string | undefined {
  const { head, labels } = card
  if (type !== 'float32') return `is ${type}, not float32`

  const wrongShape = `has the wrong shape: it should be ${formatExpectedShape(card)}`
  const isListOfRows = dims.length === 3 && dims[0] === 1
  const isUnbatchedNms = head === 'nms' && dims.length === 2
  if (!isListOfRows && !isUnbatchedNms) return wrongShape

  const columns = dims.at(-1)!
  if (columns !== countColumns(card)) {
    const classes = columns - COLUMNS_BEFORE_CLASSES
    if (head === 'nms' || classes < 1) return wrongShape
    return `has ${classes} classes, but the number of labels is ${labels.length}`
  }

  const { width, height } = inputSize
  const cells = countYoloxCells(inputSize)
  if (head === 'yolox' && dims[1] !== cells) {
    return `has ${dims[1]} rows; at ${width}x${height} the YOLOX strides ${YOLOX_STRIDES.join(', ')} make ${cells}`
  }
  return undefined
}

function countYoloxCells({ width, height }: Size): number {
  let cells = 0
  for (const stride of YOLOX_STRIDES) cells += (width / stride) * (height / stride)
  return cells
}

const formatExpectedShape = ({ head, labels }: HeadCard) =>
  head === 'nms'
    ? `[N, ${NMS_COLUMNS}]`
    : `[1, N, ${COLUMNS_BEFORE_CLASSES + labels.length}] (4 for the box, objectness, ${labels.length} classes)`
