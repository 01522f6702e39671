import {
  attributeKind,
  attributeType,
  dimType,
  elementType,
  graphType,
  modelType,
  nodeType,
  type OnnxAttribute,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValueInfo,
  opsetType,
  shapeType,
  tensorType,
  tensorValueType,
  valueInfoType,
  valueTypeType,
} from './schema.ts'

type AttributeValue = number | number[] | OnnxTensor

export function createNode(
  op: string,
  inputs: string[],
  outputs: string[],
  attributes: Record<string, AttributeValue> = {},
): OnnxNode {
  return nodeType.create({
    op,
    inputs,
    outputs,
    name: `${op}_${outputs[0]}`,
    attributes: Object.entries(attributes).map(([name, value]) => createAttribute(name, value)),
  })
}

function createAttribute(name: string, value: AttributeValue): OnnxAttribute {
  if (typeof value === 'number')
    return attributeType.create({ name, i: BigInt(value), type: attributeKind.int })
  if (Array.isArray(value))
    return attributeType.create({ name, ints: value.map(BigInt), type: attributeKind.ints })
  return attributeType.create({ name, tensor: value, type: attributeKind.tensor })
}

/** Creates a float32 or int64 tensor that contains its values. */
export function createTensor(name: string, dims: number[], values: Float32Array | BigInt64Array): OnnxTensor {
  return tensorType.create({
    name,
    dims: dims.map(BigInt),
    dataType: values instanceof Float32Array ? elementType.float : elementType.int64,
    raw: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
  })
}

/** Creates an input or output of a graph. A dimension with a name instead of a number is dynamic. */
export function createValueInfo(
  name: string,
  type: keyof typeof elementType,
  dims: readonly (number | string)[],
): OnnxValueInfo {
  return valueInfoType.create({
    name,
    type: valueTypeType.create({
      tensor: tensorValueType.create({
        elementType: elementType[type],
        shape: shapeType.create({ dims: dims.map(createDim) }),
      }),
    }),
  })
}

export const createDim = (size: number | string) =>
  dimType.create(typeof size === 'number' ? { value: BigInt(size) } : { name: size })

/** Creates a model with the default operator set, in a version old enough for every supported runtime. */
export function createModel(graph: Partial<OnnxGraph>, opset = 13): OnnxModel {
  return modelType.create({
    irVersion: 7n,
    graph: graphType.create({ name: 'eyrie', ...graph }),
    opsets: [opsetType.create({ domain: '', version: BigInt(opset) })],
  })
}
