import type { ModelCard } from '@eyrie/contract/model'
import type { HeadTensor, Size } from './head-output.ts'
import { createInputTensor, openSession, runTrial } from './session.ts'

type Card = Pick<ModelCard, 'head' | 'labels' | 'input'>

/**
 * Checks whether a model whose size was made dynamic computes the same as before at its own size, and works at two other
 * sizes with a number of rows in proportion to the area. Models with an NMS head fail the check: their number
 * of rows is not fixed.
 */
export async function supportsDynamicSize(
  fixed: Uint8Array,
  dynamic: Uint8Array,
  card: Card,
): Promise<boolean> {
  const { width, height, multiple_of: step } = card.input
  if (card.head === 'nms' || width % step || height % step) return false
  const otherSizes = [
    { width: width + step, height },
    { width, height: height + 2 * step },
  ]
  try {
    const own = await runAtSize(dynamic, card, card.input)
    if (!isEqual(own, await runAtSize(fixed, card, card.input))) return false
    for (const size of otherSizes) {
      const output = await runAtSize(dynamic, card, size)
      if (!hasProportionalRows(output, own, getArea(size) / getArea(card.input))) return false
    }
    return true
  } catch {
    // A graph that is not fully convolutional fails in one of its nodes.
    return false
  }
}

async function runAtSize(model: Uint8Array, card: Card, size: Size): Promise<HeadTensor> {
  const session = await openSession(model)
  try {
    const { name } = await runTrial(session, card, size)
    const tensor = createInputTensor(card.input, size)
    const pixels = tensor.data as Uint8Array
    // Any image with detail suffices. A multiplicative sequence looks like noise.
    for (let i = 0; i < pixels.length; i++) pixels[i] = (i * 7919) % 251
    const output = (await session.run({ [card.input.name]: tensor }, [name]))[name]!
    return { name, dims: output.dims, values: output.data as Float32Array }
  } finally {
    await session.release()
  }
}

const getArea = ({ width, height }: Size) => width * height

const isEqual = (a: HeadTensor, b: HeadTensor) =>
  a.values.length === b.values.length && a.values.every((value, i) => Math.abs(value - b.values[i]!) < 1e-3)

const hasProportionalRows = (output: HeadTensor, own: HeadTensor, ratio: number) =>
  output.dims[1] === Math.round(own.dims[1]! * ratio) && output.values.every(Number.isFinite)
