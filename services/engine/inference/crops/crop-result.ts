import type { DetectedObject } from '@eyrie/contract/object'
import type { OutputType } from '@eyrie/element'
import type { Tensor } from 'onnxruntime-node'

/** What a model has computed for a region, encoded for messages. */
export interface CropResult {
  outputs: EncodedTensor[]
  objects: DetectedObject[]
}

/**
 * A tensor whose values are encoded as base64. Values of the type int64 are converted to float64.
 */
export interface EncodedTensor {
  name: string
  type: OutputType
  dims: number[]
  data: string
}

/**
 * Maximum size of the values of all outputs together: embeddings and class scores have hundreds of
 * values, masks 16,384.
 */
const MAX_RESULT_BYTES = 64 * 2 ** 10
const MAX_OUTPUTS = 16

/**
 * Encodes the outputs of a model. Throws an `Error` if they are too large, or of a type without a
 * counterpart in JavaScript.
 */
export function encodeOutputs(tensors: Readonly<Record<string, Tensor>>): EncodedTensor[] {
  const entries = Object.entries(tensors)
  if (entries.length > MAX_OUTPUTS) {
    throw new Error(`it has ${entries.length} outputs, more than ${MAX_OUTPUTS}`)
  }

  const outputs: EncodedTensor[] = []
  let totalBytes = 0
  for (const [name, { type, dims, data }] of entries) {
    const values = toTypedArray(name, type, data)
    totalBytes += values.byteLength
    if (totalBytes > MAX_RESULT_BYTES) {
      throw new Error(
        `its outputs have more than ${MAX_RESULT_BYTES} bytes, ${name} [${dims.join(', ')}] among them: ` +
          'reduce them in the graph, for example by ReduceMax or TopK',
      )
    }
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
    outputs.push({
      name,
      type: type as OutputType,
      dims: [...dims],
      data: bytes.toString('base64'),
    })
  }
  return outputs
}

function toTypedArray(name: string, type: string, data: Tensor['data']): NodeJS.TypedArray {
  switch (type) {
    case 'float32':
    case 'float64':
    case 'int32':
    case 'uint8':
    case 'bool':
      return data as NodeJS.TypedArray
    case 'int64':
      return Float64Array.from(data as BigInt64Array, Number)
    default:
      throw new Error(`its output ${name} is ${type}: cast it to float32 in the graph`)
  }
}
