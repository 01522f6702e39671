import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import { createInputTensor, openSession, type Provider, runTrial } from '@eyrie/model-store/session'
import type { Tensor } from 'onnxruntime-node'
import type { RingReader } from '../frames/ring-reader.ts'
import { createDetect } from './detect.ts'
import { misfitOf } from './view.ts'
import type { Thresholds } from './worker-messages.ts'

/** A model in a worker's memory. */
export interface LoadedModel {
  /** Objects on frame n of a ring; `overtaken` if the ring no longer holds it. */
  detect(ring: RingReader, n: number, thresholds: Thresholds): Promise<DetectedObject[] | 'overtaken'>
  close(): Promise<void>
}

interface Input {
  /** Where the ring's pixels are read to. */
  pixels: Uint8Array
  tensor: Tensor
}

/** Throws an Error that says what is wrong with the file or where it differs from its card. */
export async function loadModel(card: ModelCard, file: string, provider: Provider): Promise<LoadedModel> {
  const bytes = await readFile(file)
  if (createHash('sha256').update(bytes).digest('hex') !== card.sha256)
    throw new Error('model.onnx is not the file that its model.json was written for: add the model again')

  const session = await openSession(bytes, provider)
  const output = await runTrial(session, card).catch(async error => {
    await session.release()
    throw error
  })
  const detect = createDetect(card)
  // By ring, since each has its size; what a ring has needed goes with it.
  const inputs = new WeakMap<RingReader, Input>()

  const inputFor = (ring: RingReader): Input => {
    const known = inputs.get(ring)
    if (known) return known
    const misfit = misfitOf(card.input, ring.shape)
    if (misfit) throw new Error(misfit)
    const input = createInput(card.input, ring.shape)
    inputs.set(ring, input)
    return input
  }

  return {
    detect: async (ring, n, thresholds) => {
      const { pixels, tensor } = inputFor(ring)
      if (ring.read(n, pixels) === 'overtaken') return 'overtaken'
      if (tensor.type === 'float32') normalize(pixels, tensor.data as Float32Array, card.input)
      const results = await session.run({ [card.input.name]: tensor }, [output.name])
      const { width, height, content } = ring.shape
      const values = results[output.name]!.data as Float32Array
      return detect({ values, inputWidth: width, inputHeight: height }, content, thresholds)
    },
    close: () => session.release(),
  }
}

/** Bytes as `card` says that the model wants them: (value · scale − mean) / std. */
function normalize(
  pixels: Uint8Array,
  values: Float32Array,
  { layout, scale = 1, mean = [0], std = [1] }: ModelCard['input'],
): void {
  const plane = pixels.length / 3
  for (let colour = 0; colour < 3; colour++) {
    const by = scale / (std[colour] ?? std[0]!)
    const less = (mean[colour] ?? mean[0]!) / (std[colour] ?? std[0]!)
    const [first, step, end] =
      layout === 'nhwc' ? [colour, 3, pixels.length] : [colour * plane, 1, (colour + 1) * plane]
    for (let i = first; i < end; i += step) values[i] = pixels[i]! * by - less
  }
}

/** For models of 8-bit input the ring is read straight into the tensor's memory. */
function createInput(card: ModelCard['input'], size: { width: number; height: number }): Input {
  const tensor = createInputTensor(card, size)
  const pixels = tensor.type === 'uint8' ? (tensor.data as Uint8Array) : new Uint8Array(tensor.size)
  return { pixels, tensor }
}
