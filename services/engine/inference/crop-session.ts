import type { ModelCard } from '@eyrie/contract/model'
import type { BBox, DetectedObject } from '@eyrie/contract/object'
import type { Thresholds } from '@eyrie/element'
import { createInputTensor, openSession, type Provider, runTrial } from '@eyrie/model-store/session'
import type { InferenceSession, Tensor } from 'onnxruntime-node'
import type { RingReader } from '../frames/ring-reader.ts'
import {
  type CropInput,
  fitCrop,
  type PixelRect,
  readCrop,
  toPixelRect,
} from './crops/crop-input.ts'
import { type CropResult, encodeOutputs } from './crops/crop-result.ts'
import type { Size } from './crops/resample.ts'
import { createDetectionDecoder } from './detection-decoder.ts'
import { normalize, readModelFile } from './model-session.ts'
import type { CropModelCard } from './worker-messages.ts'

/** A model in the memory of an inference worker, which runs on regions (crops) of frames. */
export interface CropSession {
  /** Runs the model on a region. Returns `overwritten` if the ring no longer holds the frame. */
  run(request: RegionRequest): Promise<CropResult | 'overwritten'>
  close(): Promise<void>
}

export interface RegionRequest {
  /** The ring with frame `n`. */
  ring: RingReader
  n: number
  /** The region, normalized to 0..1. */
  region: BBox
  thresholds: Thresholds
}

/**
 * Maximum number of objects in the result for a region. Those with the highest scores are returned.
 */
const MAX_OBJECTS = 100

type Outputs = Readonly<Record<string, Tensor>>

/** A region on which the model has run, and its place in the input. */
interface ModelRun {
  /** The part of the input that shows the region, in pixels. The rest of the input is a border. */
  content: PixelRect
  /** The region, normalized to 0..1 of the picture. */
  region: BBox
  thresholds: Thresholds
}

/**
 * Converts the outputs of a run to its result: decodes the output of a detector to objects, and
 * encodes other outputs as they are.
 */
type ConvertOutputs = (outputs: Outputs, run: ModelRun) => CropResult

/**
 * Loads a model and runs it once. Throws an `Error` with the reason if the file is invalid or
 * does not match its card.
 */
export async function openCropSession(
  card: CropModelCard,
  file: string,
  provider: Provider,
): Promise<CropSession> {
  const { detector, input } = card
  const session = await openSession(await readModelFile(card, file), provider)
  // Regions are scaled to one size, so that all runs use the same tensor.
  const tensor = createInputTensor({ ...input, dynamic: false, multiple_of: 1 }, input)
  const preparing = detector
    ? prepareDetector(session, detector, input)
    : prepareRawModel(session, input, tensor)
  const convertOutputs = await preparing.catch(async error => {
    await session.release()
    throw error
  })

  return {
    run: async ({ ring, n, region, thresholds }) => {
      const rect = toPixelRect(region, ring.shape)
      const crop = readCrop(ring, n, rect)
      if (crop === 'overwritten') return 'overwritten'

      const { pixels, placed } = fitCrop(crop, rect, input)
      if (tensor.type === 'uint8') (tensor.data as Uint8Array).set(pixels)
      else normalize(pixels, tensor.data as Float32Array, input)

      const outputs = await session.run({ [input.name]: tensor })
      return convertOutputs(outputs, {
        content: placed,
        region: toRegion(rect, ring.shape),
        thresholds,
      })
    },
    close: () => session.release(),
  }
}

/**
 * Checks a detector by one run on a uniform picture. Returns the function that decodes its output
 * to objects in the whole picture.
 */
async function prepareDetector(
  session: InferenceSession,
  detector: ModelCard,
  input: CropInput,
): Promise<ConvertOutputs> {
  const { name } = await runTrial(session, detector, input)
  const decode = createDetectionDecoder(detector)
  return (outputs, { content, region, thresholds }) => {
    const values = outputs[name]!.data as Float32Array
    const output = { values, inputWidth: input.width, inputHeight: input.height }
    const { objects } = decode(output, content, thresholds)
    return {
      outputs: [],
      objects: objects.slice(0, MAX_OBJECTS).map(object => toPictureObject(object, region)),
    }
  }
}

/**
 * Checks a model by one run on a uniform picture. The element itself interprets the outputs of this
 * model, so the returned function only encodes them.
 */
async function prepareRawModel(
  session: InferenceSession,
  input: CropInput,
  tensor: Tensor,
): Promise<ConvertOutputs> {
  const { inputNames } = session
  if (inputNames.length !== 1 || inputNames[0] !== input.name) {
    throw new Error(`its inputs are ${inputNames.join(', ')}; it should have only ${input.name}`)
  }
  const outputs = await session.run({ [input.name]: tensor }).catch((error: Error) => {
    throw new Error(`ONNX Runtime cannot run it: ${error.message}`)
  })
  // Throws if the outputs cannot be encoded.
  encodeOutputs(outputs)
  return outputs => ({ outputs: encodeOutputs(outputs), objects: [] })
}

/** Returns the region that a rectangle covers, normalized to 0..1 of a picture of this size. */
function toRegion(rect: PixelRect, { width, height }: Size): BBox {
  return { x: rect.x / width, y: rect.y / height, w: rect.width / width, h: rect.height / height }
}

/** Converts a box from coordinates of the region to those of the picture. */
function toPictureObject(object: DetectedObject, region: BBox): DetectedObject {
  const { x, y, w, h } = object.bbox
  const bbox = {
    x: region.x + x * region.w,
    y: region.y + y * region.h,
    w: w * region.w,
    h: h * region.h,
  }
  return { ...object, bbox }
}
