import { bytes, int32, int64, type MessageOf, many, message, one, string } from './message.ts'

/** The parts of the ONNX format (onnx.proto, ONNX 1.x) that are read or edited at import. */

export const tensorType = message({
  dims: many(1, int64),
  dataType: one(2, int32),
  int64s: many(7, int64),
  name: one(8, string),
  raw: one(9, bytes),
  dataLocation: one(14, int32),
})
export type OnnxTensor = MessageOf<typeof tensorType>

export const attributeType = message({
  name: one(1, string),
  i: one(3, int64),
  tensor: one(5, tensorType),
  ints: many(8, int64),
  type: one(20, int32),
})
export type OnnxAttribute = MessageOf<typeof attributeType>

export const nodeType = message({
  inputs: many(1, string),
  outputs: many(2, string),
  name: one(3, string),
  op: one(4, string),
  attributes: many(5, attributeType),
})
export type OnnxNode = MessageOf<typeof nodeType>

export const dimType = message({ value: one(1, int64), name: one(2, string) })
export const shapeType = message({ dims: many(1, dimType) })
export const tensorValueType = message({ elementType: one(1, int32), shape: one(2, shapeType) })
export const valueTypeType = message({ tensor: one(1, tensorValueType) })
export const valueInfoType = message({ name: one(1, string), type: one(2, valueTypeType) })
export type OnnxValueInfo = MessageOf<typeof valueInfoType>

export const graphType = message({
  nodes: many(1, nodeType),
  name: one(2, string),
  initializers: many(5, tensorType),
  inputs: many(11, valueInfoType),
  outputs: many(12, valueInfoType),
  valueInfos: many(13, valueInfoType),
})
export type OnnxGraph = MessageOf<typeof graphType>

export const opsetType = message({ domain: one(1, string), version: one(2, int64) })

export const modelType = message({
  irVersion: one(1, int64),
  graph: one(7, graphType),
  opsets: many(8, opsetType),
})
export type OnnxModel = MessageOf<typeof modelType>

/** TensorProto.DataType */
export const elementType = { float: 1, uint8: 2, int64: 7 } as const

/** AttributeProto.AttributeType */
export const attributeKind = { int: 2, tensor: 4, ints: 7 } as const
