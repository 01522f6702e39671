import type { ModelCard } from '@eyrie/contract/model'
import type { HeadTensor, Size } from './head-output.ts'
import { createInputTensor, openSession, runTrial } from './session.ts'

type Card = Pick<ModelCard, 'head' | 'labels' | 'input'>

/** Outputs that differ by less count as equal, because the two models may round differently. */
const MAX_DIFFERENCE = 1e-3

/**
 * Runs a model to find out whether it also works at other sizes than the one that it was exported
 * for.
 *
 * `dynamic` is a copy of the model `fixed` with a dynamic size. At the original size, the outputs
 * of both models must be equal. At two other sizes, the number of output rows must be proportional
 * to the area of the image. Models with an NMS head fail the check, because the number of their
 * rows depends on what the image shows.
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
    const original = await runOnNoise(fixed, card, card.input)
    const output = await runOnNoise(dynamic, card, card.input)
    if (!areEqual(original, output)) return false

    for (const size of otherSizes) {
      const resized = await runOnNoise(dynamic, card, size)
      const expectedRows = Math.round((countRows(original) * getArea(size)) / getArea(card.input))
      if (countRows(resized) !== expectedRows || !resized.values.every(Number.isFinite)) {
        return false
      }
    }
    return true
  } catch {
    // A graph that is not fully convolutional fails in one of its nodes.
    return false
  }
}

async function runOnNoise(model: Uint8Array, card: Card, size: Size): Promise<HeadTensor> {
  const session = await openSession(model)
  try {
    const { name } = await runTrial(session, card, size)
    const tensor = createInputTensor(card.input, size)
    fillWithNoise(tensor.data as Uint8Array)
    const outputs = await session.run({ [card.input.name]: tensor }, [name])
    const output = outputs[name]!
    return { name, dims: output.dims, values: output.data as Float32Array }
  } finally {
    await session.release()
  }
}

/** Fills an image with the multiples of a prime: a reproducible pattern without uniform areas. */
function fillWithNoise(pixels: Uint8Array): void {
  for (let i = 0; i < pixels.length; i++) pixels[i] = (i * 7919) % 251
}

const getArea = ({ width, height }: Size) => width * height

/** The shape of the output is [1, rows, columns]. */
const countRows = ({ dims }: HeadTensor) => dims[1]!

function areEqual(a: HeadTensor, b: HeadTensor): boolean {
  if (a.values.length !== b.values.length) return false
  return a.values.every((value, i) => Math.abs(value - b.values[i]!) < MAX_DIFFERENCE)
}
