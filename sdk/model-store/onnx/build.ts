import {
  ATTRIBUTE_TYPES,
  type AttributeProto,
  attributeProto,
  DATA_TYPES,
  type DimensionProto,
  dimensionProto,
  type GraphProto,
  graphProto,
  type ModelProto,
  modelProto,
  type NodeProto,
  nodeProto,
  operatorSetIdProto,
  type TensorProto,
  tensorProto,
  tensorShapeProto,
  tensorTypeProto,
  typeProto,
  type ValueInfoProto,
  valueInfoProto,
} from './schema.ts'

/** Functions that create parts of an ONNX graph: nodes, constants, inputs and outputs. */

type AttributeValue = number | number[] | TensorProto

/**
 * Creates a node that applies an operator, such as `Conv`, to named values and stores the
 * results under other names.
 */
export function createNode(
  opType: string,
  inputs: string[],
  outputs: string[],
  attributes: Record<string, AttributeValue> = {},
): NodeProto {
  return nodeProto.create({
    opType,
    inputs,
    outputs,
    name: `${opType}_${outputs[0]}`,
    attributes: Object.entries(attributes).map(([name, value]) => createAttribute(name, value)),
  })
}

function createAttribute(name: string, value: AttributeValue): AttributeProto {
  if (typeof value === 'number') {
    return attributeProto.create({ name, i: BigInt(value), type: ATTRIBUTE_TYPES.int })
  }
  if (Array.isArray(value)) {
    return attributeProto.create({ name, ints: value.map(BigInt), type: ATTRIBUTE_TYPES.ints })
  }
  return attributeProto.create({ name, t: value, type: ATTRIBUTE_TYPES.tensor })
}

/** Creates a float32 or int64 constant. */
export function createTensor(
  name: string,
  dims: number[],
  values: Float32Array | BigInt64Array,
): TensorProto {
  return tensorProto.create({
    name,
    dims: dims.map(BigInt),
    dataType: values instanceof Float32Array ? DATA_TYPES.float : DATA_TYPES.int64,
    rawData: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
  })
}

/**
 * Describes an input or output of a graph. A dimension with a name instead of a number is dynamic.
 */
export function createValueInfo(
  name: string,
  type: keyof typeof DATA_TYPES,
  dims: readonly (number | string)[],
): ValueInfoProto {
  const shape = tensorShapeProto.create({ dims: dims.map(createDimension) })
  const tensorType = tensorTypeProto.create({ elemType: DATA_TYPES[type], shape })
  return valueInfoProto.create({ name, type: typeProto.create({ tensorType }) })
}

export function createDimension(size: number | string): DimensionProto {
  if (typeof size === 'string') return dimensionProto.create({ dimParam: size })
  return dimensionProto.create({ dimValue: BigInt(size) })
}

/**
 * Creates a model that uses the standard operators. The defaults are old enough for every
 * supported ONNX Runtime.
 */
export function createModel(graph: Partial<GraphProto>, opsetVersion = 13): ModelProto {
  return modelProto.create({
    irVersion: 7n,
    graph: graphProto.create({ name: 'eyrie', ...graph }),
    opsetImports: [operatorSetIdProto.create({ domain: '', version: BigInt(opsetVersion) })],
  })
}
