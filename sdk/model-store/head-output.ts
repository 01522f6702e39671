import type { ModelCard } from '@eyrie/contract/model'
import type { Tensor } from 'onnxruntime-node'

export interface Size {
  width: number
  height: number
}

/** The output of a model that its head decodes: float32 values in row-major order. */
export interface HeadTensor {
  name: string
  dims: readonly number[]
  values: Float32Array
}

type HeadCard = Pick<ModelCard, 'head' | 'labels'>

/** Strides of the three feature maps of YOLOX, in input pixels. The output lists their cells in this order, row by row. */
export const yoloxStrides = [8, 16, 32] as const

/** Finds the output that the head of the card can decode. Throws an `Error` with the mismatch of each output if none fits. */
export function findOutput(
  card: HeadCard,
  outputs: Readonly<Record<string, Tensor>>,
  inputSize: Size,
): HeadTensor {
  const mismatches: string[] = []
  for (const [name, tensor] of Object.entries(outputs)) {
    const mismatch = explainMismatch(card, tensor, inputSize)
    if (mismatch === undefined) return { name, dims: tensor.dims, values: tensor.data as Float32Array }
    mismatches.push(`output ${name} [${tensor.dims.join(', ')}] ${mismatch}`)
  }
  throw new Error(`no output fits the head ${card.head}: ${mismatches.join('; ')}`)
}

/** Throws an `Error` if a score is outside 0..1, which happens if the model was exported without its sigmoid. */
export function assertScoresInRange(card: HeadCard, { name, values }: HeadTensor): void {
  const rowLength = getRowLength(card)
  const [first, last] = card.head === 'nms' ? [4, 5] : [4, rowLength]
  for (let row = 0; row < values.length; row += rowLength)
    for (let i = row + first; i < row + last; i++)
      if (!(values[i]! >= 0 && values[i]! <= 1.001))
        throw new Error(
          `output ${name} contains the score ${values[i]}, outside 0..1: export the model with its sigmoid`,
        )
}

const getRowLength = ({ head, labels }: HeadCard) => (head === 'nms' ? 6 : 5 + labels.length)

function explainMismatch(
  card: HeadCard,
  { type, dims }: Tensor,
  { width, height }: Size,
): string | undefined {
  if (type !== 'float32') return `is ${type}, not float32`
  const rank = dims.length
  if (!((rank === 3 && dims[0] === 1) || (rank === 2 && card.head === 'nms')))
    return `has the wrong shape: it should be ${formatExpectedShape(card)}`
  const columns = dims[rank - 1]!
  if (columns !== getRowLength(card)) {
    if (card.head === 'nms' || columns < 6)
      return `has the wrong shape: it should be ${formatExpectedShape(card)}`
    return `has ${columns - 5} classes, but the number of labels is ${card.labels.length}`
  }
  const cells = yoloxStrides.reduce((sum, stride) => sum + (width / stride) * (height / stride), 0)
  if (card.head === 'yolox' && dims[1] !== cells)
    return `has ${dims[1]} rows; at ${width}x${height} the YOLOX strides ${yoloxStrides.join(', ')} make ${cells}`
  return undefined
}

const formatExpectedShape = ({ head, labels }: HeadCard) =>
  head === 'nms'
    ? '[N, 6]'
    : `[1, N, ${5 + labels.length}] (4 for the box, objectness, ${labels.length} classes)`
