import { isDeepStrictEqual } from 'node:util'
import { createNode, createTensor, createValueInfo } from './build.ts'
import type { ImageInput } from './image-input.ts'
import { elementType, type OnnxGraph, type OnnxNode, type OnnxTensor } from './schema.ts'

/** Normalisation of pixels before inference: (value · scale − mean) / std, with one mean and std or one per channel. */
export interface Normalization {
  scale: number
  mean: number[]
  std: number[]
}

export const noNormalization: Normalization = { scale: 1, mean: [0], std: [1] }

/**
 * Makes a graph accept 8-bit pixels: prepends a cast and the normalisation, so that the caller passes decoded pixels
 * without touching them. The new input is called `frame`.
 */
export function acceptBytes(graph: OnnxGraph, input: ImageInput, normalization: Normalization): OnnxGraph {
  if (input.type === 'uint8') {
    if (!isDeepStrictEqual(normalization, noNormalization))
      throw new Error(`its input ${input.name} is uint8 already: scale, mean and std do not apply`)
    return graph
  }
  const dims = graph.inputs.find(({ name }) => name === input.name)?.type?.tensor?.shape?.dims ?? []
  const frame = createValueInfo(findUnusedName(graph, 'frame'), 'uint8', [])
  frame.type!.tensor!.shape!.dims = dims

  const { nodes, constants } = createNormalization(normalization, input, frame.name!)
  return {
    ...graph,
    inputs: [frame, ...graph.inputs.filter(({ name }) => name !== input.name)],
    initializers: [...graph.initializers, ...constants],
    nodes: [...nodes, ...graph.nodes],
  }
}

/** Creates the nodes from `frame` to the name of the original input, so that the nodes that read it need no change. */
function createNormalization(
  { scale, mean, std }: Normalization,
  { name, layout }: ImageInput,
  frame: string,
): { nodes: OnnxNode[]; constants: OnnxTensor[] } {
  const steps: [op: string, operand: number[]][] = []
  if (scale !== 1) steps.push(['Mul', [scale]])
  if (mean.some(value => value !== 0)) steps.push(['Sub', mean])
  if (std.some(value => value !== 1)) steps.push(['Div', std])

  const valueName = (step: number) => (step === steps.length ? name : `${name}/bytes${step}`)
  const constantName = (step: number) => `${name}/by${step}`
  return {
    nodes: [
      createNode('Cast', [frame], [valueName(0)], { to: elementType.float }),
      ...steps.map(([op], i) => createNode(op, [valueName(i), constantName(i)], [valueName(i + 1)])),
    ],
    constants: steps.map(([, operand], i) => {
      const dims = operand.length === 1 || layout === 'nhwc' ? [operand.length] : [operand.length, 1, 1]
      return createTensor(constantName(i), dims, new Float32Array(operand))
    }),
  }
}

function findUnusedName(graph: OnnxGraph, preferred: string): string {
  const used = new Set(graph.nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]))
  return used.has(preferred) ? `${preferred}_bytes` : preferred
}
