import type { ModelCard } from '@eyrie/contract/model'
import type { Tensor } from 'onnxruntime-node'
import type { Size } from './session.ts'

/** The output that a head decodes: float32 values row by row. */
export interface HeadTensor {
  name: string
  dims: readonly number[]
  values: Float32Array
}

type HeadCard = Pick<ModelCard, 'head' | 'labels'>

/** Strides of YOLOX's three feature maps, in input pixels; the output lists their cells in this order, row by row. */
export const yoloxStrides = [8, 16, 32] as const

/** Finds the output that the card's head can decode; throws an Error that says why none of them fits. */
export function findOutput(
  card: HeadCard,
  outputs: Readonly<Record<string, Tensor>>,
  inputSize: Size,
): HeadTensor {
  const misfits: string[] = []
  for (const [name, tensor] of Object.entries(outputs)) {
    const misfit = misfitOf(card, tensor, inputSize)
    if (misfit === undefined) return { name, dims: tensor.dims, values: tensor.data as Float32Array }
    misfits.push(`output ${name} [${tensor.dims.join(', ')}] ${misfit}`)
  }
  throw new Error(`no output fits the head ${card.head}: ${misfits.join('; ')}`)
}

/** Throws if objectness or class scores leave 0..1, as they do where an exporter has left out the sigmoid. */
export function checkScores(card: HeadCard, { name, values }: HeadTensor): void {
  const rowLength = rowLengthOf(card)
  const [first, last] = card.head === 'nms' ? [4, 5] : [4, rowLength]
  for (let row = 0; row < values.length; row += rowLength)
    for (let i = row + first; i < row + last; i++)
      if (!(values[i]! >= 0 && values[i]! <= 1.001))
        throw new Error(`output ${name} holds the score ${values[i]}, not 0..1: export it with its sigmoid`)
}

const rowLengthOf = ({ head, labels }: HeadCard) => (head === 'nms' ? 6 : 5 + labels.length)

function misfitOf(card: HeadCard, { type, dims }: Tensor, { width, height }: Size): string | undefined {
  if (type !== 'float32') return `is ${type}, not float32`
  const rank = dims.length
  if (!((rank === 3 && dims[0] === 1) || (rank === 2 && card.head === 'nms')))
    return `has the wrong shape: it should be ${shapeNeeded(card)}`
  const found = dims[rank - 1]!
  if (found !== rowLengthOf(card)) {
    if (card.head === 'nms' || found < 6) return `has the wrong shape: it should be ${shapeNeeded(card)}`
    return `has ${found - 5} classes, but ${card.labels.length} labels are given`
  }
  const cells = yoloxStrides.reduce((sum, stride) => sum + (width / stride) * (height / stride), 0)
  if (card.head === 'yolox' && dims[1] !== cells)
    return `has ${dims[1]} rows; at ${width}x${height} YOLOX's strides ${yoloxStrides.join(', ')} make ${cells}`
  return undefined
}

const shapeNeeded = ({ head, labels }: HeadCard) =>
  head === 'nms'
    ? '[N, 6]'
    : `[1, N, ${5 + labels.length}] (4 of the box, objectness, ${labels.length} classes)`
