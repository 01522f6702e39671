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

// The parts of the ONNX format (onnx.proto, ONNX 1.x) that the import of a model reads or edits.

export const tensorType = defineMessage({
  dims: repeated(1, int64),
  dataType: optional(2, int32),
  int64s: repeated(7, int64),
  name: optional(8, string),
  raw: optional(9, bytes),
  dataLocation: optional(14, int32),
})
export type OnnxTensor = MessageOf<typeof tensorType>

export const attributeType = defineMessage({
  name: optional(1, string),
  i: optional(3, int64),
  tensor: optional(5, tensorType),
  ints: repeated(8, int64),
  type: optional(20, int32),
})
export type OnnxAttribute = MessageOf<typeof attributeType>

export const nodeType = defineMessage({
  inputs: repeated(1, string),
  outputs: repeated(2, string),
  name: optional(3, string),
  op: optional(4, string),
  attributes: repeated(5, attributeType),
})
export type OnnxNode = MessageOf<typeof nodeType>

export const dimType = defineMessage({ value: optional(1, int64), name: optional(2, string) })
export const shapeType = defineMessage({ dims: repeated(1, dimType) })
export const tensorValueType = defineMessage({
  elementType: optional(1, int32),
  shape: optional(2, shapeType),
})
export const valueTypeType = defineMessage({ tensor: optional(1, tensorValueType) })
export const valueInfoType = defineMessage({ name: optional(1, string), type: optional(2, valueTypeType) })
export type OnnxValueInfo = MessageOf<typeof valueInfoType>

export const graphType = defineMessage({
  nodes: repeated(1, nodeType),
  name: optional(2, string),
  initializers: repeated(5, tensorType),
  inputs: repeated(11, valueInfoType),
  outputs: repeated(12, valueInfoType),
  valueInfos: repeated(13, valueInfoType),
})
export type OnnxGraph = MessageOf<typeof graphType>

export const opsetType = defineMessage({ domain: optional(1, string), version: optional(2, int64) })

export const modelType = defineMessage({
  irVersion: optional(1, int64),
  graph: optional(7, graphType),
  opsets: repeated(8, opsetType),
})
export type OnnxModel = MessageOf<typeof modelType>

/** TensorProto.DataType */
export const elementType = { float: 1, uint8: 2, int64: 7 } as const

/** AttributeProto.AttributeType */
export const attributeKind = { int: 2, tensor: 4, ints: 7 } as const
