import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { DATA_LOCATIONS } from './schema.ts'

/**
 * Rejects ONNX files with tensors whose values are stored outside of the file. ONNX Runtime would
 * read them from any file that the tensor names, or from any address in its memory. The search
 * covers every place in which onnx.proto (github.com/onnx/onnx) allows a tensor. It neither copies
 * nor decodes the values.
 */

type MessageName =
  | 'model'
  | 'training'
  | 'function'
  | 'graph'
  | 'node'
  | 'attribute'
  | 'sparseTensor'
  | 'tensor'

/** The fields of each message, by number, that can contain tensors. */
const NESTED: Record<MessageName, Partial<Record<number, MessageName>>> = {
  model: { 7: 'graph', 20: 'training', 25: 'function' },
  training: { 1: 'graph', 2: 'graph' },
  function: { 7: 'node', 11: 'attribute' },
  graph: { 1: 'node', 5: 'tensor', 15: 'sparseTensor' },
  node: { 5: 'attribute' },
  attribute: {
    5: 'tensor',
    6: 'graph',
    10: 'tensor',
    11: 'graph',
    22: 'sparseTensor',
    23: 'sparseTensor',
  },
  sparseTensor: { 1: 'tensor', 2: 'tensor' },
  tensor: {},
}

/** Numbers of the fields of a tensor that say where its values are stored. */
const EXTERNAL_DATA = 13
const DATA_LOCATION = 14

/** Protocol Buffers reject deeper messages, too. */
const MAX_DEPTH = 100

/** ONNX Runtime detects models in its own format, a FlatBuffer, by these bytes. */
const ORT_FORMAT = { offset: 4, identifier: 'ORTM' }

/** Throws an `Error` if the model is not an ONNX file, or refers to data outside of the file. */
export function assertSelfContained(model: Uint8Array): void {
  const { offset, identifier } = ORT_FORMAT
  const fileIdentifier = String.fromCharCode(...model.subarray(offset, offset + identifier.length))
  if (fileIdentifier === identifier) {
    throw new Error('it is in the format of ONNX Runtime: convert it to ONNX')
  }

  let isSelfContained: boolean
  try {
    isSelfContained = !hasExternalData(model, 'model', 0)
  } catch {
    throw new Error('it is not an ONNX model, or it is truncated')
  }
  if (!isSelfContained) {
    throw new Error('its weights are in another file: save it as a single file first')
  }
}

function hasExternalData(encoded: Uint8Array, name: MessageName, depth: number): boolean {
  if (depth > MAX_DEPTH) throw new Error('messages are nested too deeply')
  const reader = new BinaryReader(encoded)
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const nested = wireType === WireType.LengthDelimited ? NESTED[name][number] : undefined
    if (nested) {
      if (hasExternalData(reader.bytes(), nested, depth + 1)) return true
    } else if (name === 'tensor' && number === EXTERNAL_DATA) {
      return true
    } else if (name === 'tensor' && number === DATA_LOCATION && wireType === WireType.Varint) {
      // If the field is repeated, its last value counts. An honest file has only one, so that any
      // other value is rejected.
      if (reader.int32() !== DATA_LOCATIONS.default) return true
    } else {
      reader.skip(wireType, number)
    }
  }
  return false
}
