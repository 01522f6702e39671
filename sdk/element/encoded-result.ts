import type { DetectedObject } from '@eyrie/contract/object'
import type { ModelResult, OutputData, OutputType } from './infer.ts'

/**
 * The result of a model in a message from the engine to the process of an element. Messages are
 * JSON, so the values of tensors are encoded as base64.
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
   * The values in base64, in the byte order of the machine. Values of the type int64 are encoded as
   * float64, because elements receive them as numbers of JavaScript.
   */
  data: string
}

/** The arrays in which elements receive the values of each type. */
const ARRAYS_BY_TYPE = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: Float64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
} as const satisfies Record<OutputType, unknown>

/** Converts an encoded result to the result that the element receives. */
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
  // A small `Buffer` is a part of a shared memory block and may begin at any address. The copy has
  // a memory block of its own, so arrays of every type are aligned in it.
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  return new ARRAYS_BY_TYPE[type](bytes.buffer)
}
