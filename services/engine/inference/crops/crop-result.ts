import type { DetectedObject } from '@eyrie/contract/object'
import type { OutputType } from '@eyrie/element'
import type { Tensor } from 'onnxruntime-node'

/** What a model has computed for a region, in messages. */
export interface CropResult {
  outputs: EncodedTensor[]
  objects: DetectedObject[]
}

/** A tensor whose values are encoded as base64, int64 as float64. */
export interface EncodedTensor {
  name: string
  type: OutputType
  dims: number[]
  data: string
}

/** Values of all outputs together. Embeddings and scores of classes have hundreds, maps of a segmentation 16,384. */
const MAX_RESULT_BYTES = 64 * 2 ** 10
const MAX_OUTPUTS = 16

/** Encodes the outputs of a model. Throws an `Error` if they are too large, or of a type without a counterpart. */
export function encodeOutputs(tensors: Readonly<Record<string, Tensor>>): EncodedTensor[] {
  const entries = Object.entries(tensors)
  if (entries.length > MAX_OUTPUTS)
    throw new Error(`it has ${entries.length} outputs, more than ${MAX_OUTPUTS}`)
  let bytes = 0
  return entries.map(([name, { type, dims, data }]) => {
    const values = toValues(name, type, data)
    bytes += values.byteLength
    if (bytes > MAX_RESULT_BYTES)
      throw new Error(
        `its outputs have more than ${MAX_RESULT_BYTES} bytes, ${name} [${dims.join(', ')}] among them: reduce them in the graph, for example by ReduceMax or TopK`,
      )
    return {
      name,
      type: type as OutputType,
      dims: [...dims],
      data: Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64'),
    }
  })
}

function toValues(name: string, type: string, data: Tensor['data']): NodeJS.TypedArray {
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
