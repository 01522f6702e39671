import type { ModelCard } from '@eyrie/contract/model'
import type { HeadTensor } from './head-output.ts'
import { inputTensor, openSession, type Size, trialRun } from './session.ts'

type Card = Pick<ModelCard, 'head' | 'labels' | 'input'>

/**
 * Whether a model whose size was opened still is the same model at its own size, and works at two others with as many
 * rows as their areas ask for. A head with suppression in the graph has no such number: it stays at its size.
 */
export async function worksAtAnySize(fixed: Uint8Array, open: Uint8Array, card: Card): Promise<boolean> {
  const { width, height, multiple_of: step } = card.input
  if (card.head === 'nms' || width % step || height % step) return false
  try {
    const own = await runAt(open, card, card.input)
    const before = await runAt(fixed, card, card.input)
    if (!isSame(own, before)) return false
    for (const size of [
      { width: width + step, height },
      { width, height: height + 2 * step },
    ])
      if (!fits(await runAt(open, card, size), own, areaOf(size) / areaOf(card.input))) return false
    return true
  } catch {
    // What is not fully convolutional fails in one node or another.
    return false
  }
}

async function runAt(model: Uint8Array, card: Card, size: Size): Promise<HeadTensor> {
  const session = await openSession(model)
  try {
    const { name } = await trialRun(session, card, size)
    const tensor = inputTensor(card.input, size)
    const pixels = tensor.data as Uint8Array
    // Any picture with detail will do; a multiplicative sequence looks like noise.
    for (let i = 0; i < pixels.length; i++) pixels[i] = (i * 7919) % 251
    const output = (await session.run({ [card.input.name]: tensor }, [name]))[name]!
    return { name, dims: output.dims, values: output.data as Float32Array }
  } finally {
    await session.release()
  }
}

const areaOf = ({ width, height }: Size) => width * height

const isSame = (a: HeadTensor, b: HeadTensor) =>
  a.values.length === b.values.length && a.values.every((value, i) => Math.abs(value - b.values[i]!) < 1e-3)

const fits = (other: HeadTensor, own: HeadTensor, ratio: number) =>
  other.dims[1] === Math.round(own.dims[1]! * ratio) && other.values.every(Number.isFinite)
