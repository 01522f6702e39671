import type { DetectedObject } from '@eyrie/contract/object'
import type { ModelResult, OutputData, OutputType } from './infer.ts'

/**
 * The result of a model in messages. Values of tensors are encoded as base64,
 * because messages are JSON.
 */
export interface EncodedResult {
  outputs: EncodedOutput[]
  objects: DetectedObject[]
}

export interface EncodedOutput {
  name: string
  type: OutputType
  dims: number[]
  /**
   * Values in the byte order of the machine. int64 is encoded as float64, which
   * numbers in JavaScript are.
   */
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

/** Converts a result to what the element receives. */
export function decodeResult({ outputs, objects }: EncodedResult): ModelResult {
  return {
    outputs: Object.fromEntries(
      outputs.map(({ name, type, dims, data }) => [
        name,
        { type, dims, data: decodeValues(type, data) },
      ]),
    ),
    objects,
  }
}

function decodeValues(type: OutputType, data: string): OutputData {
  // Copied, because the memory of a small `Buffer` need not be aligned.
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  return new ARRAYS[type](bytes.buffer)
}
