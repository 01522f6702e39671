import { isDeepStrictEqual } from 'node:util'
import { createNode, createTensor, createValueInfo } from './build.ts'
import type { ImageInput } from './image-input.ts'
import {
  DATA_TYPES,
  type GraphProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './schema.ts'

/**
 * The formula by which a model was trained to normalize pixels: (pixel · scale − mean) / std.
 * `mean` and `std` hold one number, or one per channel.
 */
export interface Normalization {
  scale: number
  mean: number[]
  std: number[]
}

export const NO_NORMALIZATION: Normalization = { scale: 1, mean: [0], std: [1] }

/**
 * Changes the input of a graph from float32 to uint8, so that decoded pixels can be passed
 * to the model as they are. The graph itself then converts and normalizes them. The new
 * input is called `frame`.
 */
export function acceptBytes(
  graph: GraphProto,
  input: ImageInput,
  normalization: Normalization,
): GraphProto {
  if (input.type === 'uint8') {
    if (!isDeepStrictEqual(normalization, NO_NORMALIZATION)) {
      throw new Error(`its input ${input.name} is uint8 already: scale, mean and std do not apply`)
    }
    return graph
  }

  const frameName = findUnusedName(graph, 'frame')
  const { nodes, constants } = createNormalization(frameName, input, normalization)
  const otherInputs = graph.inputs.filter(({ name }) => name !== input.name)
  return {
    ...graph,
    inputs: [createFrameInput(frameName, graph, input), ...otherInputs],
    initializers: [...graph.initializers, ...constants],
    nodes: [...nodes, ...graph.nodes],
  }
}

/** Creates a uint8 input with the dimensions of the original input. */
function createFrameInput(frameName: string, graph: GraphProto, input: ImageInput): ValueInfoProto {
  const original = graph.inputs.find(({ name }) => name === input.name)
  const frame = createValueInfo(frameName, 'uint8', [])
  frame.type!.tensorType!.shape!.dims = original?.type?.tensorType?.shape?.dims ?? []
  return frame
}

/**
 * Creates the nodes that convert `frame` to float32 and normalize it. The last node writes to the
 * name of the original input, so the nodes that read the original input remain unchanged.
 */
function createNormalization(
  frameName: string,
  { name: inputName, layout }: ImageInput,
  { scale, mean, std }: Normalization,
): { nodes: NodeProto[]; constants: TensorProto[] } {
  const operations: { opType: string; operand: number[] }[] = []
  if (scale !== 1) operations.push({ opType: 'Mul', operand: [scale] })
  if (mean.some(value => value !== 0)) operations.push({ opType: 'Sub', operand: mean })
  if (std.some(value => value !== 1)) operations.push({ opType: 'Div', operand: std })

  // Step 0 is the conversion to float32. The result of the last step has the name of the original
  // input.
  const nameResult = (step: number) =>
    step === operations.length ? inputName : `${inputName}/normalized${step}`
  const nodes = [createNode('Cast', [frameName], [nameResult(0)], { to: DATA_TYPES.float })]
  const constants: TensorProto[] = []

  for (const [step, { opType, operand }] of operations.entries()) {
    const operandName = `${inputName}/operand${step}`
    constants.push(createOperand(operandName, operand, layout))
    nodes.push(createNode(opType, [nameResult(step), operandName], [nameResult(step + 1)]))
  }
  return { nodes, constants }
}

/**
 * Creates a constant that ONNX broadcasts over the pixels: a single number, or one number per
 * channel.
 */
function createOperand(name: string, values: number[], layout: ImageInput['layout']): TensorProto {
  const isPerChannel = values.length > 1
  const dims = isPerChannel && layout === 'nchw' ? [values.length, 1, 1] : [values.length]
  return createTensor(name, dims, new Float32Array(values))
}

function findUnusedName(graph: GraphProto, preferred: string): string {
  const usedNames = new Set(graph.nodes.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]))
  return usedNames.has(preferred) ? `${preferred}_bytes` : preferred
}
