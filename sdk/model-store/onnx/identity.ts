import { createModel, createNode, createValueInfo } from './build.ts'
import { modelType } from './schema.ts'

/** The smallest possible model: it returns its input. Loading it shows whether an execution provider works. */
export function createIdentityModel(): Uint8Array {
  return modelType.encode(
    createModel({
      nodes: [createNode('Identity', ['x'], ['y'])],
      inputs: [createValueInfo('x', 'float', [1])],
      outputs: [createValueInfo('y', 'float', [1])],
    }),
  )
}
