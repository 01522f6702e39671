import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ModelCard } from '@eyrie/contract/model'
import type { Detections, Thresholds } from '@eyrie/element'
import { createInputTensor, openSession, type Provider, runTrial } from '@eyrie/model-store/session'
import type { Tensor } from 'onnxruntime-node'
import type { RingReader } from '../frames/ring-reader.ts'
import { createDetectionDecoder } from './detection-decoder.ts'
import { findRingMismatch } from './model-view.ts'

/**
 * A model that is loaded in the memory of an inference worker. It reads frames from rings, which
 * are buffers in shared memory.
 */
export interface ModelSession {
  /**
   * Detects objects in a frame of a ring. Returns `overwritten` if the ring no longer holds the
   * frame.
   */
  detect(
    ring: RingReader,
    frameNumber: number,
    thresholds: Thresholds,
  ): Promise<Detections | 'overwritten'>
  close(): Promise<void>
}

const COLOUR_CHANNELS = 3

interface InputBuffer {
  /** Memory for the pixels of a frame. */
  pixels: Uint8Array
  tensor: Tensor
}

/**
 * Loads a model and runs it once. Throws an `Error` with the reason if the file is invalid or
 * does not match its card.
 */
export async function openModelSession(
  card: ModelCard,
  file: string,
  provider: Provider,
): Promise<ModelSession> {
  const session = await openSession(await readModelFile(card, file), provider)
  const output = await runTrial(session, card).catch(async error => {
    await session.release()
    throw error
  })

  const decode = createDetectionDecoder(card)
  // Rings differ in the size of their pictures. A buffer is freed together with the reader of its
  // ring.
  const buffers = new WeakMap<RingReader, InputBuffer>()

  const getBuffer = (ring: RingReader): InputBuffer => {
    const existing = buffers.get(ring)
    if (existing) return existing

    const mismatch = findRingMismatch(card.input, ring.shape)
    if (mismatch) throw new Error(mismatch)
    const buffer = createInputBuffer(card.input, ring.shape)
    buffers.set(ring, buffer)
    return buffer
  }

  return {
    detect: async (ring, frameNumber, thresholds) => {
      const { pixels, tensor } = getBuffer(ring)
      if (ring.read(frameNumber, pixels) === 'overwritten') return 'overwritten'
      if (tensor.type === 'float32') normalize(pixels, tensor.data as Float32Array, card.input)

      const outputs = await session.run({ [card.input.name]: tensor }, [output.name])
      const values = outputs[output.name]!.data as Float32Array
      const { width, height, content } = ring.shape
      return decode({ values, inputWidth: width, inputHeight: height }, content, thresholds)
    },
    close: () => session.release(),
  }
}

/**
 * Reads the ONNX file of a model. Throws an `Error` with the reason if it is not the file of its
 * card.
 */
export async function readModelFile(
  { sha256 }: Pick<ModelCard, 'sha256'>,
  file: string,
): Promise<Buffer> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES') throw error
    throw new Error(
      `inference workers cannot read ${file}: check its permissions, ` +
        'and restart Eyrie if its folder is a link that was added while Eyrie was running',
    )
  })
  const actual = createHash('sha256').update(bytes).digest('hex')
  if (actual !== sha256) {
    throw new Error(
      'model.onnx is not the file that its model.json was written for: add the model again',
    )
  }
  return bytes
}

/**
 * Converts pixels to floats, for each colour channel: (pixel · scale − mean) / std. The layout
 * `nhwc` interleaves the colours of each pixel; `nchw` stores one plane per colour. A single mean
 * or deviation applies to all colours.
 */
export function normalize(
  pixels: Uint8Array,
  values: Float32Array,
  input: Pick<ModelCard['input'], 'layout' | 'scale' | 'mean' | 'std'>,
): void {
  const { layout, scale = 1, mean = [0], std = [1] } = input
  const planeSize = pixels.length / COLOUR_CHANNELS
  const isInterleaved = layout === 'nhwc'

  for (let colour = 0; colour < COLOUR_CHANNELS; colour++) {
    const deviation = std[colour] ?? std[0]!
    const factor = scale / deviation
    const offset = (mean[colour] ?? mean[0]!) / deviation

    const start = isInterleaved ? colour : colour * planeSize
    const step = isInterleaved ? COLOUR_CHANNELS : 1
    const end = isInterleaved ? pixels.length : start + planeSize
    for (let i = start; i < end; i += step) values[i] = pixels[i]! * factor - offset
  }
}

/**
 * For a model with 8-bit input, `pixels` is the memory of the tensor itself, which avoids a copy.
 */
function createInputBuffer(
  input: ModelCard['input'],
  size: { width: number; height: number },
): InputBuffer {
  const tensor = createInputTensor(input, size)
  const pixels = tensor.type === 'uint8' ? (tensor.data as Uint8Array) : new Uint8Array(tensor.size)
  return { pixels, tensor }
}
