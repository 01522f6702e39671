import { isDeepStrictEqual } from 'node:util'
import { node, tensor, valueInfo } from './build.ts'
import type { ImageInput } from './image-input.ts'
import { elementType, type OnnxGraph, type OnnxNode, type OnnxTensor } from './schema.ts'

/** What the model expects of its pixels: (value · scale − mean) / std, mean and std by channel or one for all. */
export interface Normalization {
  scale: number
  mean: number[]
  std: number[]
}

export const unnormalized: Normalization = { scale: 1, mean: [0], std: [1] }

/**
 * Makes the graph take 8-bit pixels: a cast and the normalisation come before what was its input, so that nothing
 * outside touches a pixel. The new input is called `frame`.
 */
export function takeBytes(graph: OnnxGraph, input: ImageInput, normalization: Normalization): OnnxGraph {
  if (input.type === 'uint8') {
    if (!isDeepStrictEqual(normalization, unnormalized))
      throw new Error(`its input ${input.name} takes bytes already: scale, mean and std do not apply`)
    return graph
  }
  const dims = graph.inputs.find(({ name }) => name === input.name)?.type?.tensor?.shape?.dims ?? []
  const frame = valueInfo(unusedName(graph, 'frame'), 'uint8', [])
  frame.type!.tensor!.shape!.dims = dims

  const { nodes, constants } = normalize(normalization, input, frame.name!)
  return {
    ...graph,
    inputs: [frame, ...graph.inputs.filter(({ name }) => name !== input.name)],
    initializers: [...graph.initializers, ...constants],
    nodes: [...nodes, ...graph.nodes],
  }
}

/** The chain of nodes from `frame` to the old input's name, so that the nodes that read it stay as they are. */
function normalize(
  { scale, mean, std }: Normalization,
  { name, layout }: ImageInput,
  frame: string,
): { nodes: OnnxNode[]; constants: OnnxTensor[] } {
  const steps: [op: string, by: number[]][] = []
  if (scale !== 1) steps.push(['Mul', [scale]])
  if (mean.some(value => value !== 0)) steps.push(['Sub', mean])
  if (std.some(value => value !== 1)) steps.push(['Div', std])

  const value = (step: number) => (step === steps.length ? name : `${name}/bytes${step}`)
  const constant = (step: number) => `${name}/by${step}`
  return {
    nodes: [
      node('Cast', [frame], [value(0)], { to: elementType.float }),
      ...steps.map(([op], i) => node(op, [value(i), constant(i)], [value(i + 1)])),
    ],
    constants: steps.map(([, by], i) =>
      tensor(
        constant(i),
        by.length === 1 || layout === 'nhwc' ? [by.length] : [by.length, 1, 1],
        new Float32Array(by),
      ),
    ),
  }
}

function unusedName(graph: OnnxGraph, wish: string): string {
  const used = new Set(graph.nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]))
  return used.has(wish) ? `${wish}_bytes` : wish
}
