import {
  bytes,
  defineMessage,
  int32,
  int64,
  type MessageOf,
  optional,
  repeated,
  string,
} from './protobuf-message.ts'

/** `TensorProto.DataType` in onnx.proto. */
export const DATA_TYPES = { float: 1, uint8: 2, int64: 7 } as const
/** `TensorProto.DataLocation` in onnx.proto. */
export const DATA_LOCATIONS = { default: 0, external: 1 } as const
/** `AttributeProto.AttributeType` in onnx.proto. */
export const ATTRIBUTE_TYPES = { int: 2, tensor: 4, ints: 7 } as const

/**
 * The messages of an ONNX file that Eyrie reads or edits. Field numbers and names are those of
 * onnx.proto (github.com/onnx/onnx); names of repeated fields are in the plural.
 */

export const tensorProto = defineMessage({
  dims: repeated(1, int64),
  dataType: optional(2, int32),
  int64Data: repeated(7, int64),
  name: optional(8, string),
  rawData: optional(9, bytes),
  dataLocation: optional(14, int32),
})
export type TensorProto = MessageOf<typeof tensorProto>

export const attributeProto = defineMessage({
  name: optional(1, string),
  i: optional(3, int64),
  t: optional(5, tensorProto),
  ints: repeated(8, int64),
  type: optional(20, int32),
})
export type AttributeProto = MessageOf<typeof attributeProto>

export const nodeProto = defineMessage({
  inputs: repeated(1, string),
  outputs: repeated(2, string),
  name: optional(3, string),
  opType: optional(4, string),
  attributes: repeated(5, attributeProto),
})
export type NodeProto = MessageOf<typeof nodeProto>

/**
 * A dimension has either a fixed size (`dimValue`) or a name (`dimParam`), which makes it dynamic.
 */
export const dimensionProto = defineMessage({
  dimValue: optional(1, int64),
  dimParam: optional(2, string),
})
export type DimensionProto = MessageOf<typeof dimensionProto>

export const tensorShapeProto = defineMessage({ dims: repeated(1, dimensionProto) })
export const tensorTypeProto = defineMessage({
  elemType: optional(1, int32),
  shape: optional(2, tensorShapeProto),
})
export const typeProto = defineMessage({ tensorType: optional(1, tensorTypeProto) })

/** Name, element type and shape of an input, an output or an intermediate value of a graph. */
export const valueInfoProto = defineMessage({
  name: optional(1, string),
  type: optional(2, typeProto),
})
export type ValueInfoProto = MessageOf<typeof valueInfoProto>

export const graphProto = defineMessage({
  nodes: repeated(1, nodeProto),
  name: optional(2, string),
  initializers: repeated(5, tensorProto),
  inputs: repeated(11, valueInfoProto),
  outputs: repeated(12, valueInfoProto),
  valueInfos: repeated(13, valueInfoProto),
})
export type GraphProto = MessageOf<typeof graphProto>

export const operatorSetIdProto = defineMessage({
  domain: optional(1, string),
  version: optional(2, int64),
})

export const modelProto = defineMessage({
  irVersion: optional(1, int64),
  graph: optional(7, graphProto),
  opsetImports: repeated(8, operatorSetIdProto),
})
export type ModelProto = MessageOf<typeof modelProto>
