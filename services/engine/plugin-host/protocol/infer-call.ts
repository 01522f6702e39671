import type { BBox, DetectedObject } from '@eyrie/contract/object'
import type { ModelResult, OutputData, OutputType, Thresholds } from '@eyrie/element'
import { z } from 'zod'

/**
 * The call with which an element runs a model on a part of a frame. Only its form is validated here; the engine answers what it
 * does not accept with the reason.
 */
export const inferCall = z.strictObject({
  method: z.literal('infer'),
  model: z.string(),
  n: z.unknown().optional(),
  region: z.unknown().optional(),
  thresholds: z.unknown().optional(),
})

export interface InferCall {
  method: 'infer'
  model: string
  /** Number of the frame. */
  n?: unknown
  /** `BBox`; by default the whole picture. */
  region?: unknown
  /** `Thresholds` */
  thresholds?: unknown
}

/** An inference that was accepted. `region` is normalised to 0..1 of the picture and inside of it. */
export interface InferRequest {
  n: number
  region: BBox
  thresholds: Thresholds
}

/** The value of the reply. Values of tensors are encoded as base64, because messages are JSON. */
export interface EncodedResult {
  outputs: EncodedOutput[]
  objects: DetectedObject[]
}

export interface EncodedOutput {
  name: string
  type: OutputType
  dims: number[]
  /** Values in the byte order of the machine. int64 is encoded as float64, which numbers in JavaScript are. */
  data: string
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: Float64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const satisfies Record<OutputType, unknown>

/** Converts the value of a reply to what the element receives. */
export function decodeResult({ outputs, objects }: EncodedResult): ModelResult {
  return {
    outputs: Object.fromEntries(
      outputs.map(({ name, type, dims, data }) => [name, { type, dims, data: decodeValues(type, data) }]),
    ),
    objects,
  }
}

function decodeValues(type: OutputType, data: string): OutputData {
  // Copied, because the memory of a small `Buffer` need not be aligned.
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  return new ARRAYS[type](bytes.buffer)
}
