import { createDim } from './build.ts'
import type { ImageInput } from './image-input.ts'
import { elementType, type OnnxGraph, type OnnxNode, type OnnxTensor, type OnnxValueInfo } from './schema.ts'

/** Strides of the feature maps of common detectors, in input pixels. */
const strides = [4, 8, 16, 32, 64]

/**
 * Makes the height and width of a graph dynamic that was exported for a fixed size: names the dimensions of its input and
 * outputs, drops the recorded shapes of intermediate values, and replaces the number of cells in reshape targets by -1.
 * At the original size the graph computes the same. It works at other sizes only if it is fully convolutional, which
 * the caller must verify.
 */
export function makeSizeDynamic(
  graph: OnnxGraph,
  input: ImageInput & { width: number; height: number },
): OnnxGraph {
  const cellCounts = new Set(strides.map(stride => (input.width / stride) * (input.height / stride)))
  // A single cell cannot be distinguished from a batch of one.
  cellCounts.delete(1)
  const reshapes = graph.nodes.filter(({ op }) => op === 'Reshape')
  const targets = new Set(reshapes.map(({ inputs }) => inputs[1]))
  const toDynamic = (tensor: OnnxTensor): OnnxTensor => replaceCellCount(tensor, cellCounts)

  return {
    ...graph,
    inputs: graph.inputs.map(info =>
      info.name === input.name ? withDims(info, createDynamicDims(input.layout)) : info,
    ),
    outputs: graph.outputs.map(info =>
      withDims(info, info.type?.tensor?.shape?.dims.map((_, i) => createDim(`${info.name}_${i}`)) ?? []),
    ),
    valueInfos: [],
    initializers: graph.initializers.map(tensor => (targets.has(tensor.name) ? toDynamic(tensor) : tensor)),
    nodes: graph.nodes.map(node =>
      node.op === 'Constant' && targets.has(node.outputs[0]) ? mapTensors(node, toDynamic) : node,
    ),
  }
}

type Dims = ReturnType<typeof createDim>[]

const createDynamicDims = (layout: ImageInput['layout']): Dims =>
  (layout === 'nchw' ? [1, 3, 'height', 'width'] : [1, 'height', 'width', 3]).map(createDim)

function withDims(info: OnnxValueInfo, dims: Dims): OnnxValueInfo {
  const tensor = info.type?.tensor
  if (!tensor?.shape) return info
  return { ...info, type: { ...info.type!, tensor: { ...tensor, shape: { ...tensor.shape, dims } } } }
}

function mapTensors(node: OnnxNode, map: (tensor: OnnxTensor) => OnnxTensor): OnnxNode {
  const attributes = node.attributes.map(attribute =>
    attribute.tensor ? { ...attribute, tensor: map(attribute.tensor) } : attribute,
  )
  return { ...node, attributes }
}

/** Replaces the dimension of a reshape target that is the number of cells of a feature map by -1, which infers it. */
function replaceCellCount(tensor: OnnxTensor, cellCounts: ReadonlySet<number>): OnnxTensor {
  if (tensor.dataType !== elementType.int64) return tensor
  const shape = readInt64Values(tensor)
  const isCellCount = shape.map(size => cellCounts.has(Number(size)))
  if (shape.includes(-1n) || isCellCount.filter(Boolean).length !== 1) return tensor
  return { ...tensor, int64s: shape.map((size, i) => (isCellCount[i] ? -1n : size)), raw: undefined }
}

function readInt64Values({ raw, int64s }: OnnxTensor): bigint[] {
  if (!raw) return int64s
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  return Array.from({ length: raw.byteLength / 8 }, (_, i) => view.getBigInt64(i * 8, true))
}
