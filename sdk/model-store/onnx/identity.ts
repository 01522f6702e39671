import { createModel, createNode, createValueInfo } from './build.ts'
import { modelProto } from './schema.ts'

/**
 * Creates the smallest possible model, which returns its input. Loading it shows whether an
 * execution provider works.
 */
export function createIdentityModel(): Uint8Array {
  return modelProto.encode(
    createModel({
      nodes: [createNode('Identity', ['x'], ['y'])],
      inputs: [createValueInfo('x', 'float', [1])],
      outputs: [createValueInfo('y', 'float', [1])],
    }),
  )
}
