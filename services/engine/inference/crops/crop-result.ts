import type { DetectedObject } from '@eyrie/contract/object'
import type { OutputType } from '@eyrie/element'
import type { Tensor } from 'onnxruntime-node'

/**
 * Maximum size of the values of all outputs together. Embeddings and class scores have hundreds of
 * values. A mask of 128 by 128 values in float32 just fits.
 */
const MAX_RESULT_BYTES = 64 * 2 ** 10
const MAX_OUTPUTS = 16

/** What a model has computed for a crop, a region of a picture, encoded for messages. */
export interface CropResult {
  outputs: EncodedTensor[]
  objects: DetectedObject[]
}

/**
 * An output of a model, encoded for messages. Values of the type `int64` are converted to
 * float64, the type of numbers in JavaScript.
 */
export interface EncodedTensor {
  name: string
  type: OutputType
  /** Size in each dimension. */
  dims: number[]
  /** The values in row-major order, as base64. */
  data: string
}

/**
 * Encodes the outputs of a model. Throws an `Error` if they are too large, or of a type without a
 * counterpart in JavaScript. The message calls the model `it`: the caller adds its name.
 */
export function encodeOutputs(tensors: Readonly<Record<string, Tensor>>): EncodedTensor[] {
  const entries = Object.entries(tensors)
  if (entries.length > MAX_OUTPUTS) {
    throw new Error(`it has ${entries.length} outputs, more than ${MAX_OUTPUTS}`)
  }

  const outputs: EncodedTensor[] = []
  let totalBytes = 0
  for (const [name, tensor] of entries) {
    const values = toTypedArray(name, tensor)
    totalBytes += values.byteLength
    if (totalBytes > MAX_RESULT_BYTES) {
      throw new Error(
        `its outputs have more than ${MAX_RESULT_BYTES} bytes, ${name} [${tensor.dims.join(', ')}] among them: ` +
          'reduce them in the graph, for example by ReduceMax or TopK',
      )
    }

    outputs.push({
      name,
      // `toTypedArray` rejects all other types.
      type: tensor.type as OutputType,
      dims: [...tensor.dims],
      data: encodeBase64(values),
    })
  }
  return outputs
}

const encodeBase64 = ({ buffer, byteOffset, byteLength }: NodeJS.TypedArray) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** Returns the values of an output. Throws an `Error` if elements do not support their type. */
function toTypedArray(name: string, { type, data }: Tensor): NodeJS.TypedArray {
  switch (type) {
    case 'float32':
    case 'float64':
    case 'int32':
    case 'uint8':
    case 'bool':
      return data as NodeJS.TypedArray
    case 'int64':
      // JSON has no 64-bit integers.
      return Float64Array.from(data as BigInt64Array, Number)
    default:
      throw new Error(`its output ${name} is ${type}: cast it to float32 in the graph`)
  }
}
