import { model, node, valueInfo } from './build.ts'
import { modelType } from './schema.ts'

/** The smallest model there is: its output is its input. It shows whether an execution provider works at all. */
export function identityModel(): Uint8Array {
  return modelType.encode(
    model({
      nodes: [node('Identity', ['x'], ['y'])],
      inputs: [valueInfo('x', 'float', [1])],
      outputs: [valueInfo('y', 'float', [1])],
    }),
  )
}
