import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { describe, expect, it } from 'vitest'
import { openSession } from '../session.ts'
import { createModel, createNode, createTensor, createValueInfo } from './build.ts'
import { assertSelfContained } from './external-data.ts'
import { createIdentityModel } from './identity.ts'
import {
  attributeProto,
  DATA_LOCATIONS,
  graphProto,
  modelProto,
  type NodeProto,
  nodeProto,
  type TensorProto,
  tensorProto,
} from './schema.ts'

const values = new Float32Array([1])

/** Encodes a length-delimited field that the schema of Eyrie does not declare. */
const field = (number: number, content: Uint8Array) =>
  new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish()
const entry = (key: string, value: string) =>
  new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(key)
    .tag(2, WireType.LengthDelimited)
    .string(value)
    .finish()

/** A constant whose value is the content of a file. */
const external: TensorProto = {
  ...createTensor('constant', [1], values),
  rawData: undefined,
  dataLocation: DATA_LOCATIONS.external,
  unknownFields: [field(13, entry('location', 'secret.bin'))],
}
const encodedExternal = tensorProto.encode(external)

const io = {
  inputs: [createValueInfo('x', 'float', [1])],
  outputs: [createValueInfo('y', 'float', [1])],
}
const add = createNode('Add', ['x', 'constant'], ['y'])
const identity = createNode('Identity', ['x'], ['y'])
const constant = (attribute: Uint8Array): NodeProto =>
  nodeProto.create({
    opType: 'Constant',
    outputs: ['constant'],
    unknownFields: [field(5, attribute)],
  })
const attributeWith = (number: number, content: Uint8Array) =>
  attributeProto.encode(
    attributeProto.create({ name: 'value', unknownFields: [field(number, content)] }),
  )
const graphWith = (number: number, content: Uint8Array) =>
  graphProto.encode(graphProto.create({ name: 'inner', unknownFields: [field(number, content)] }))
const modelWith = (number: number, content: Uint8Array) =>
  modelProto.encode({
    ...createModel({ nodes: [identity], ...io }),
    unknownFields: [field(number, content)],
  })
const nodesWith = (attribute: Uint8Array) =>
  modelProto.encode(createModel({ nodes: [constant(attribute), add], ...io }))

const asSparse = field(1, encodedExternal)
const constantNode = nodeProto.encode(constant(attributeWith(5, encodedExternal)))

describe('external data of a model', () => {
  it.each<[string, Uint8Array]>([
    [
      'an initializer',
      modelProto.encode(createModel({ nodes: [add], initializers: [external], ...io })),
    ],
    ['a constant', nodesWith(attributeWith(5, encodedExternal))],
    ['a list of tensors of an attribute', nodesWith(attributeWith(10, encodedExternal))],
    ['a sparse constant', nodesWith(attributeWith(22, asSparse))],
    ['a list of sparse tensors of an attribute', nodesWith(attributeWith(23, asSparse))],
    ['the indices of a sparse constant', nodesWith(attributeWith(22, field(2, encodedExternal)))],
    ['an initializer of a subgraph', nodesWith(attributeWith(6, graphWith(5, encodedExternal)))],
    ['a constant of a subgraph', nodesWith(attributeWith(6, graphWith(1, constantNode)))],
    ['a list of subgraphs', nodesWith(attributeWith(11, graphWith(5, encodedExternal)))],
    ['a sparse initializer', modelWith(7, graphWith(15, asSparse))],
    ['a second part of the graph', modelWith(7, graphWith(5, encodedExternal))],
    ['a function', modelWith(25, field(7, constantNode))],
    [
      'a default attribute of a function',
      modelWith(25, field(11, attributeWith(5, encodedExternal))),
    ],
    ['the training information', modelWith(20, field(1, graphWith(5, encodedExternal)))],
  ])('is rejected in %s', async (_, model) => {
    expect(() => assertSelfContained(model)).toThrow('its weights are in another file')
    await expect(openSession(model)).rejects.toThrow('its weights are in another file')
  })

  it('is rejected even if the data location is overwritten or absent', () => {
    const twice = Buffer.concat([
      encodedExternal,
      tensorProto.encode({ ...external, dataLocation: 0 }),
    ])
    expect(() => assertSelfContained(modelWith(7, graphWith(5, twice)))).toThrow('another file')
    const absent = tensorProto.encode({ ...external, dataLocation: undefined })
    expect(() => assertSelfContained(modelWith(7, graphWith(5, absent)))).toThrow('another file')
  })

  it('is absent from a complete model', async () => {
    const initializers = [createTensor('constant', [1], values)]
    const model = modelProto.encode(createModel({ nodes: [add], initializers, ...io }))
    assertSelfContained(model)
    await (await openSession(model)).release()
  })

  it('cannot be hidden in another format', () => {
    const flatBuffer = Buffer.from(createIdentityModel())
    flatBuffer.write('ORTM', 4)
    expect(() => assertSelfContained(flatBuffer)).toThrow('it is in the format of ONNX Runtime')
  })

  it('cannot be hidden in endlessly nested subgraphs', () => {
    let graph = graphWith(5, encodedExternal)
    for (let depth = 0; depth < 50; depth++) {
      graph = graphWith(1, nodeProto.encode(constant(attributeWith(6, graph))))
    }
    expect(() => assertSelfContained(modelWith(7, graph))).toThrow('it is not an ONNX model')
  })
})
