import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import { createInputTensor, openSession, type Provider, runTrial } from '@eyrie/model-store/session'
import type { Tensor } from 'onnxruntime-node'
import type { RingReader } from '../frames/ring-reader.ts'
import { createDetectionDecoder } from './detection-decoder.ts'
import { findRingMismatch } from './model-view.ts'
import type { Thresholds } from './worker-messages.ts'

/** A model loaded in the memory of a worker. */
export interface ModelSession {
  /** Detects objects in frame `n` of a ring. Returns `overwritten` if the ring no longer holds the frame. */
  detect(ring: RingReader, n: number, thresholds: Thresholds): Promise<DetectedObject[] | 'overwritten'>
  close(): Promise<void>
}

interface InputBuffer {
  /** Receives the pixels of a frame. */
  pixels: Uint8Array
  tensor: Tensor
}

/** Loads a model and runs it once. Throws an Error that explains what is wrong with the file or how it differs from its card. */
export async function openModelSession(
  card: ModelCard,
  file: string,
  provider: Provider,
): Promise<ModelSession> {
  const bytes = await readFile(file)
  if (createHash('sha256').update(bytes).digest('hex') !== card.sha256)
    throw new Error('model.onnx is not the file that its model.json was written for: add the model again')

  const session = await openSession(bytes, provider)
  const output = await runTrial(session, card).catch(async error => {
    await session.release()
    throw error
  })
  const decode = createDetectionDecoder(card)
  // Views differ in size, so each ring has its own buffer, freed together with its reader.
  const buffers = new WeakMap<RingReader, InputBuffer>()

  const bufferFor = (ring: RingReader): InputBuffer => {
    const existing = buffers.get(ring)
    if (existing) return existing
    const mismatch = findRingMismatch(card.input, ring.shape)
    if (mismatch) throw new Error(mismatch)
    const buffer = createInputBuffer(card.input, ring.shape)
    buffers.set(ring, buffer)
    return buffer
  }

  return {
    detect: async (ring, n, thresholds) => {
      const { pixels, tensor } = bufferFor(ring)
      if (ring.read(n, pixels) === 'overwritten') return 'overwritten'
      if (tensor.type === 'float32') normalize(pixels, tensor.data as Float32Array, card.input)
      const results = await session.run({ [card.input.name]: tensor }, [output.name])
      const { width, height, content } = ring.shape
      const values = results[output.name]!.data as Float32Array
      return decode({ values, inputWidth: width, inputHeight: height }, content, thresholds)
    },
    close: () => session.release(),
  }
}

/** Converts bytes to the floats that the card specifies: (value · scale − mean) / std, per colour channel. */
function normalize(
  pixels: Uint8Array,
  values: Float32Array,
  { layout, scale = 1, mean = [0], std = [1] }: ModelCard['input'],
): void {
  const plane = pixels.length / 3
  const isInterleaved = layout === 'nhwc'
  for (let colour = 0; colour < 3; colour++) {
    const deviation = std[colour] ?? std[0]!
    const factor = scale / deviation
    const offset = (mean[colour] ?? mean[0]!) / deviation
    const start = isInterleaved ? colour : colour * plane
    const step = isInterleaved ? 3 : 1
    const end = isInterleaved ? pixels.length : start + plane
    for (let i = start; i < end; i += step) values[i] = pixels[i]! * factor - offset
  }
}

/** For models with 8-bit input, frames are read directly into the tensor's memory. */
function createInputBuffer(input: ModelCard['input'], size: { width: number; height: number }): InputBuffer {
  const tensor = createInputTensor(input, size)
  const pixels = tensor.type === 'uint8' ? (tensor.data as Uint8Array) : new Uint8Array(tensor.size)
  return { pixels, tensor }
}
